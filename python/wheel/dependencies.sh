#!/usr/bin/env bash
# Builds the libraries that the wheel links in, as static libraries, and prints their folder:
#   python/wheel/dependencies.sh TARGET [objects]
# It builds OpenSSL, nghttp2, zlib and libcurl, in the releases of sources.toml, with only what the client needs. Each
# set of releases and options is built once: later calls find the folder in the cache. The wheel's libraries contain
# LLVM's code for link-time optimisation, which only zig's linker reads; with `objects` they contain machine code, which
# any linker reads (capi/go/archive.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
. python/wheel/toolchain.sh
target="${1:?usage: python/wheel/dependencies.sh TARGET [objects]}"
variant="${2:-}"
wheel_use "$target"

compile_flags="-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -DNDEBUG"
# The configuration folder that is compiled into OpenSSL does not exist, and OpenSSL never reads openssl.cnf, so the
# host's settings do not change the client. The build leaves out algorithms that today's TLS 1.2 and 1.3 connections and
# certificates do not need.
openssl_options=(no-shared no-tests no-apps no-docs no-module no-dso no-engine no-legacy no-autoload-config no-comp no-quic
  no-dtls no-ssl3 no-tls1 no-tls1_1 no-srp no-psk no-sctp no-srtp no-ct no-cms no-ts no-cmp no-rfc3779 no-ui-console
  no-gost no-idea no-md4 no-mdc2 no-rc2 no-rc4 no-rc5 no-seed no-camellia no-aria no-bf no-cast no-blake2 no-whirlpool
  no-rmd160 no-sm2 no-sm3 no-sm4 no-siphash no-scrypt no-argon2 no-ml-dsa no-slh-dsa no-ec2m no-afalgeng no-uplink
  no-weak-ssl-ciphers --openssldir=/nonexistent/billcore/ssl)
curl_options=(-DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DUSE_NGHTTP2=ON -DENABLE_THREADED_RESOLVER=ON -DENABLE_IPV6=ON
  -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_CA_FALLBACK=OFF -DCURL_ENABLE_SSL=ON
  -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF -DUSE_LIBIDN2=OFF
  -DCURL_DISABLE_ALTSVC=ON -DCURL_DISABLE_HSTS=ON -DCURL_DISABLE_COOKIES=ON -DCURL_DISABLE_NETRC=ON -DCURL_DISABLE_DOH=ON
  -DCURL_DISABLE_MIME=ON -DCURL_DISABLE_FORM_API=ON -DCURL_DISABLE_AWS=ON -DCURL_DISABLE_NTLM=ON
  -DCURL_DISABLE_KERBEROS_AUTH=ON -DCURL_DISABLE_NEGOTIATE_AUTH=ON -DCURL_DISABLE_IPFS=ON -DCURL_DISABLE_WEBSOCKETS=ON
  -DCURL_DISABLE_SRP=ON -DENABLE_UNIX_SOCKETS=OFF)
zlib_files=(adler32 crc32 inffast inflate inftrees zutil) # the client only decompresses
key="$(printf '%s\n' "$(wheel_pin openssl sha256)" "$(wheel_pin nghttp2 sha256)" "$(wheel_pin zlib sha256)" \
  "$(wheel_pin curl sha256)" "${zlib_files[@]}" "$(cat "$wheel_tools"/clang)" "$compile_flags" "${openssl_options[@]}" \
  "${curl_options[@]}" "${variant:-lto} 2" | sha256sum | cut -c1-16)"
folder="$bc_cache/wheel-dependencies-$target-$key"
flags="$compile_flags -ffile-prefix-map=$bc_cache/=" # no path of this machine in the libraries
[ -n "$variant" ] || flags+=" -flto"

source_of() { # NAME: prints the folder with the library's source
  local crate
  crate="$(bc_crate "$(wheel_pin "$1" crate)" "$(wheel_pin "$1" crate_version)" "$(wheel_pin "$1" sha256)")" || return
  echo "$crate/$(wheel_pin "$1" folder)"
}

with_cmake() { # SOURCE [OPTION…]
  local name
  name="$(basename "$1")"
  cmake -S "$1" -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${target%%-*}" -DCMAKE_C_COMPILER="$wheel_tools/clang" \
    -DCMAKE_AR="$wheel_tools/ar" -DCMAKE_RANLIB="$wheel_tools/ranlib" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_C_FLAGS_RELEASE= -DCMAKE_FIND_ROOT_PATH="$folder" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_TRY_COMPILE_TARGET_TYPE=EXECUTABLE -DBUILD_SHARED_LIBS=OFF "${@:2}" &&
    cmake --build "$work/$name" -j "$bc_jobs" --target install
}

build_openssl() { # SOURCE
  local kind="linux-${target%%-*}"
  [ "$kind" != linux-x86_64 ] || kind=linux-x86_64-clang
  cp -r "$1" "$work/openssl" && (
    cd "$work/openssl" &&
      CC="ccache $wheel_tools/clang" AR="$wheel_tools/ar" RANLIB="$wheel_tools/ranlib" CFLAGS="$compile_flags" \
        perl ./Configure "$kind" --prefix=/nonexistent/billcore --libdir=lib "${openssl_options[@]}" &&
      # OpenSSL compiles in the time and the path of the compiler, which differ from build to build.
      SOURCE_DATE_EPOCH=0 perl util/mkbuildinf.pl clang "$kind" >crypto/buildinf.h &&
      make -j "$bc_jobs" build_libs && make install_dev INSTALLTOP="$folder"
  )
}

build_zlib() { # SOURCE
  mkdir "$work/zlib" && (
    # shellcheck disable=SC2086 # words
    cd "$work/zlib" && for name in "${zlib_files[@]}"; do
      ccache "$wheel_tools/clang" $flags -c "$1/$name.c" || return
    done && "$wheel_tools/ar" rcs "$folder/lib/libz.a" ./*.o && cp "$1/zlib.h" "$1/zconf.h" "$folder/include"
  )
}

build() {
  bc_packages ccache cmake make ninja-build perl
  bc_ccache "$PWD"
  bc_say "building OpenSSL $(wheel_pin openssl version), nghttp2 $(wheel_pin nghttp2 version), zlib $(wheel_pin zlib version), libcurl $(wheel_pin curl version) for $target"
  work="$folder/work"
  mkdir -p "$work"
  local openssl nghttp2 zlib curl
  openssl="$(source_of openssl)" || return
  nghttp2="$(source_of nghttp2)" || return
  zlib="$(source_of zlib)" || return
  curl="$(source_of curl)" || return
  bc_quietly "building OpenSSL" "$folder/openssl.log" build_openssl "$openssl"
  bc_quietly "building nghttp2" "$folder/nghttp2.log" with_cmake "$nghttp2" -DENABLE_LIB_ONLY=ON -DENABLE_DOC=OFF -DBUILD_STATIC_LIBS=ON \
    -DBUILD_TESTING=OFF
  bc_quietly "building zlib" "$folder/zlib.log" build_zlib "$zlib"
  bc_quietly "building libcurl" "$folder/curl.log" with_cmake "$curl" "${curl_options[@]}" -DBUILD_STATIC_LIBS=ON -DBUILD_CURL_EXE=OFF \
    -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Perl=ON -DOPENSSL_ROOT_DIR="$folder" \
    -DOPENSSL_USE_STATIC_LIBS=ON -DNGHTTP2_INCLUDE_DIR="$folder/include" -DNGHTTP2_LIBRARY="$folder/lib/libnghttp2.a" \
    -DCURL_USE_PKGCONFIG=OFF
  rm -rf "$work"
}

bc_once "$folder" build >&2
echo "$folder"
