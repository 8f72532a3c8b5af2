//go:build cgo && !billcore_system && linux && (amd64 || arm64)

package native

/*
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>

static int has_index(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) return 1;
  }
  return -1; // looks at the first object only: the program, which contains this function
}

static int can_unwind(void) { return dl_iterate_phdr(has_index, NULL) == 1; }
*/
import "C"

// The C library reports errors inside by exceptions of C++, which end the program if the linker left out the index of the
// stack frames. gcc -static and musl-gcc make the linker do so.
func init() {
	if C.can_unwind() == 0 {
		panic("billcore: the program was linked without an index of its stack frames: add -Wl,--eh-frame-hdr to -extldflags")
	}
}
