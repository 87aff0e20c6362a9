#!/bin/sh
# The C source of a filter for processors of graphics: clang takes it with the macro header, and an ensemble of it, as OpenCL C and
# as CUDA. Nothing is run. Skipped where there is no clang.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
command -v clang >/dev/null || exit 77

example=$source_root/datasets/embedding/compiled

# takes FOLDER FLAG ...: the pair in the folder, by clang with these flags
takes() {
  cp "$example/device.h" "$example/ensemble.c" "$1"
  (
    cd "$1" || exit 1
    shift
    clang -fsyntax-only -Wno-unknown-cuda-version "$@" ensemble.c 2>&1
  ) >err || fail "clang: $*"
}

both() {
  takes "$1" -x cl -cl-std=CL3.0 -target spir64 -Xclang -finclude-default-header -Xclang \
    -cl-ext=+cl_khr_fp64,+__opencl_c_fp64,+__opencl_c_generic_address_space,+__opencl_c_program_scope_global_variables
  takes "$1" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70
}

# By the extensions of another target the doubles of OpenCL may be missing in this clang, or all of CUDA.
echo 'double f(double x) { return sqrt(x); }' >probe.c
clang -fsyntax-only -x cl -cl-std=CL3.0 -target spir64 -Xclang -finclude-default-header probe.c 2>/dev/null || exit 77
clang -fsyntax-only -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Wno-unknown-cuda-version /dev/null 2>/dev/null || exit 77

run 0 compile "$example/study.yaml" --name four_bar --output plain
both plain
run 0 compile "$example/study.yaml" --name four_bar --precision single --output single
both single
sed "s|\.\./\.\./four-bar|$source_root/datasets/four-bar|; /^uncertainty/d" "$example/study.yaml" >budget.yaml
run 0 compile budget.yaml --name four_bar --output budget
both budget
run 0 compile "$source_root/datasets/metered-crane/pressures.yaml" --name four_bar --output metered
both metered
