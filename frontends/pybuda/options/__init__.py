# SPDX-License-Identifier: Apache-2.0
"""Options of the configuration: what they take, and variables of the environment that set them."""
