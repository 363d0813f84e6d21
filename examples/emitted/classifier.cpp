#include <ttnn/program.hpp>
#include <ttnn/ttnn.hpp>

ttnn::Tensor classifier(ttnn::Tensor image, ttnn::Tensor weight, ttnn::Tensor bias) {
  ttnn::Tensor scores = ttnn::linear(image, weight, bias);
  ttnn::Tensor probabilities = ttnn::softmax(
      scores, /*dim=*/1, /*compute_kernel_config=*/std::nullopt, /*numeric_stable=*/false);
  ttnn::deallocate(scores);
  return probabilities;
}

std::vector<ttnn::Tensor> create_inputs_for_classifier(ttnn::Device device) {
  ttnn::Tensor image = ttnn::rand(/*shape=*/{8, 64}, device, /*dtype=*/ttnn::DataType::FLOAT32);
  ttnn::Tensor weight = ttnn::rand(
      /*shape=*/{64, 10},
      device,
      /*dtype=*/ttnn::DataType::FLOAT32,
      /*layout=*/std::nullopt,
      /*memory_config=*/std::nullopt,
      /*low=*/0.0,
      /*high=*/1.0,
      /*seed=*/1);
  ttnn::Tensor bias = ttnn::rand(
      /*shape=*/{10},
      device,
      /*dtype=*/ttnn::DataType::FLOAT32,
      /*layout=*/std::nullopt,
      /*memory_config=*/std::nullopt,
      /*low=*/0.0,
      /*high=*/1.0,
      /*seed=*/2);
  return {image, weight, bias};
}

TTNN_PROGRAM(classifier, create_inputs_for_classifier)

int main() {
  return ttnn::run_programs(1, 1);
}
