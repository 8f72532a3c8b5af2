#!/bin/sh
# Runs our libraries, shared and static, in a process with another libcrypto. Whichever libcrypto is loaded first, our
# libraries call the OpenSSL they were linked with, because OpenSSL's symbols have versions.
# Usage: other_crypto.sh LIBRARY_FOLDER WORK_FOLDER [OTHER_LIBCRYPTO]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
libdir=$1
work=$2/crypto
real=${3:-}
mkdir "$work"
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
cc="${CC:-cc} -std=gnu11 -Wall -Wextra -Werror"

# Builds a foreign libcrypto: each of its functions ends the process. The foreign library has every OpenSSL function
# that libbillcore-webhook.so calls, and some other OpenSSL functions.
{
  nm -D --undefined-only "$libdir/libbillcore-webhook.so" | sed -n 's/.* U \([A-Za-z0-9_]*\)@OPENSSL_.*/\1/p'
  printf '%s\n' CRYPTO_free CRYPTO_malloc EVP_DigestInit_ex EVP_DigestUpdate EVP_MD_CTX_new EVP_sha256 HMAC OPENSSL_init_crypto
} | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -gt 10 ] || { echo "libbillcore-webhook.so asks for almost nothing of OpenSSL" >&2; exit 1; }
{
  printf '#include <stdio.h>\n#include <stdlib.h>\n'
  sed 's/.*/void &(void); void &(void) { fputs("a foreign &\\n", stderr); _Exit(99); }/' "$work/names"
} >"$work/foreign.c"
printf 'OPENSSL_999 { global: *; };\n' >"$work/foreign.map"
$cc -fPIC -shared "$work/foreign.c" -o "$work/libcrypto.so.999" -Wl,-soname,libcrypto.so.999 \
  -Wl,--version-script="$work/foreign.map"
$cc -fPIC -shared "$work/foreign.c" -o "$work/libplain.so" # without versions

# shellcheck disable=SC2046  # lists of words
{
  $cc "$here/other_crypto.c" -o "$work/shared" $(pkg-config --cflags --libs billcore) -ldl
  $cc "$here/other_crypto.c" -o "$work/static" $(pkg-config --cflags --libs billcore-static) -ldl
  $cc -DLOADED "$here/other_crypto.c" -o "$work/loaded" $(pkg-config --cflags billcore) -ldl
  # The program "first" is linked with the foreign libcrypto before all other libraries.
  $cc "$here/other_crypto.c" -o "$work/first" -Wl,--no-as-needed "$work/libcrypto.so.999" -Wl,--as-needed \
    $(pkg-config --cflags --libs billcore) -ldl
}
export LD_LIBRARY_PATH="$libdir:$work"
try() { "$@" || { echo "failed beside another libcrypto: $*" >&2; exit 1; }; }
for mode in local global; do
  for order in before after; do
    for other in "$work/libcrypto.so.999" ${real:+"$real"}; do
      for program in shared static loaded; do try "$work/$program" $order $mode "$other"; done
    done
  done
  # Loads a foreign library without symbol versions after the loader has bound the symbols of our libraries.
  for program in shared static loaded; do try "$work/$program" after $mode "$work/libplain.so"; done
done
try "$work/loaded" before local "$work/libplain.so"
try "$work/first" after local "$work/libcrypto.so.999"
for program in shared static; do
  try env LD_PRELOAD="$work/libcrypto.so.999" "$work/$program" after local "$work/libcrypto.so.999"
  # A preloaded library without symbol versions replaces OpenSSL, so the next run must fail. The failure of this run
  # shows that a foreign function really ends the process that calls it.
  if env LD_PRELOAD="$work/libplain.so" "$work/$program" after local "$work/libplain.so" 2>"$work/log"; then
    echo "the foreign functions are never called: this test cannot fail" >&2
    exit 1
  fi
  grep -q '^a foreign ' "$work/log" || { cat "$work/log" >&2; exit 1; }
done
echo "beside another libcrypto: all fine${real:+, also beside $(basename "$real")}"
