# SPDX-License-Identifier: Apache-2.0
# For scripts that source it: parallel jobs with logs, under one progress bar.
#
# On a terminal the bar is the last line and is drawn anew; elsewhere (logs of CI) each step is a line, and each twentieth
# of the whole. A job that fails ends the script with its name, the end of its log and the log's file; so does one in the
# background, whatever runs in front. Ctrl-C ends all jobs with what they have started.

logs=build/log # a log per job
declare -A job_pid=() job_text=()
bar_text= bar_from=0 bar_to=0 bar_twentieth=-1 bar_started=$SECONDS
[ -t 1 ] && bar_terminal=true || bar_terminal=false

# Returns when all that the jobs have started is gone; what does not heed a request within 5 s is killed.
end_jobs() {
  local pid turn left
  for pid in "${job_pid[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
  for turn in {1..100}; do
    left=false
    for pid in "${job_pid[@]}"; do if kill -0 -- "-$pid" 2>/dev/null; then left=true; fi; done
    if ! $left; then return; fi
    sleep 0.05
  done
  for pid in "${job_pid[@]}"; do kill -KILL -- "-$pid" 2>/dev/null || true; done
}
bar_clear() { if $bar_terminal; then printf '\r\033[K'; fi; }
trap 'code=$?; bar_clear; end_jobs; exit $code' EXIT
trap 'bar_clear; echo "interrupted" >&2; trap - INT; exit 130' INT
trap 'exit 143' TERM HUP

# bar_draw PERMILLE TEXT: of the current step, and what to say of it.
bar_draw() {
  local permille=$(((bar_from * (1000 - $1) + bar_to * $1) / 1000)) text=$bar_text${2:+ $2} job
  if ! $bar_terminal; then
    if [ $((permille / 50)) -gt "$bar_twentieth" ]; then
      bar_twentieth=$((permille / 50))
      printf '[%3d%%] %4ds  %s\n' $((permille / 10)) $((SECONDS - bar_started)) "$text"
    fi
    return
  fi
  for job in "${!job_pid[@]}"; do
    [ -z "${job_text[$job]}" ] || text+=" · ${job_text[$job]}"
  done
  local room=$((${COLUMNS:-$(tput cols 2>/dev/null || echo 80)} - 44)) filled=$((permille * 30 / 1000)) full empty
  printf -v full '%*s' $filled ''
  printf -v empty '%*s' $((30 - filled)) ''
  printf '\r\033[K%s%s %3d%% %d:%02d %s' "${full// /━}" "${empty// /╌}" $((permille / 10)) \
    $(((SECONDS - bar_started) / 60)) $(((SECONDS - bar_started) % 60)) "${text:0:$((room > 20 ? room : 20))}"
}

# step TEXT FROM TO: what follows is called TEXT and takes the bar from FROM to TO, in thousandths.
step() { bar_text=$1 bar_from=$2 bar_to=$3 bar_twentieth=-1; bar_draw 0 ""; }

# start NAME TEXT COMMAND...: a job in the background, with its log in $logs/NAME.log.
start() {
  local name=$1
  job_text[$name]=$2
  shift 2
  mkdir -p "$logs"
  rm -f "$logs/$name.status"
  set -m # a process group for each job
  { code=0; "$@" || code=$?; echo "$code" >"$logs/$name.status"; } >"$logs/$name.log" 2>&1 </dev/null &
  job_pid[$name]=$!
  set +m
}

# Fails for the first job that has failed; forgets those that are done.
check_jobs() {
  local name code
  for name in "${!job_pid[@]}"; do
    if kill -0 "${job_pid[$name]}" 2>/dev/null; then continue; fi
    code=$(cat "$logs/$name.status" 2>/dev/null || echo killed)
    [ "$code" = 0 ] || fail "$name" "$code"
    unset "job_pid[$name]"
  done
}

fail() {
  bar_clear
  { echo "error: $1 failed (exit code $2); the end of $logs/$1.log:"; grep -v '^[dp][lm]status:' "$logs/$1.log" | tail -n 25; } >&2
  exit 1
}

# wait_for NAME: draws how far the job says it is, until it is done.
wait_for() {
  local line permille done total percent
  while [ -n "${job_pid[$1]:-}" ]; do
    line=$(tail -c 2000 "$logs/$1.log" 2>/dev/null | grep -a -o -E '^\[[0-9]+/[0-9]+\]|^[dp][lm]status:[^:]*:[0-9]+' | tail -n 1) || true
    case $line in
      \[*)
        done=${line#[} done=${done%/*} total=${line#*/} total=${total%]}
        bar_draw $((done * 1000 / (total > 0 ? total : 1))) "$done/$total"
        ;;
      dl*) percent=${line##*:}; bar_draw $((percent * 5)) "(download)" ;;
      pm*) percent=${line##*:}; bar_draw $((500 + percent * 5)) "" ;;
      *) bar_draw 0 "" ;;
    esac
    sleep 0.3
    check_jobs
  done
}

# wait_for_line NAME LINE: until the job's log has that line.
wait_for_line() {
  until grep -q -x -F -e "$2" "$logs/$1.log" 2>/dev/null; do
    [ -n "${job_pid[$1]:-}" ] || fail "$1" "0, without \"$2\""
    sleep 0.3
    check_jobs
    bar_draw 0 ""
  done
}

# run NAME COMMAND...: a job that is waited for.
run() { local name=$1; shift; start "$name" "" "$@"; wait_for "$name"; }
