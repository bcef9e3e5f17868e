// Preloaded into linux.uml. Version 6.1 keeps the FPU state of its processes in 2696 bytes, enough
// up to AVX-512 and PKRU. On a processor with more state (AMX: 11008 bytes) the machine's kernel
// refuses a PTRACE_SETREGSET of any size but the whole, and a host dies with its first process
// (SIGSEGV in put_fp_registers).
// This shim fills such a call up to the whole size. The added components are zeros whose bits are
// clear in the header, which means "initial state": AMX needs a permission (arch_prctl) that a
// process in User-Mode Linux cannot get. On other processors, and with a newer linux.uml that asks
// for the size, every call passes unchanged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*PtraceCall)(enum __ptrace_request, ...);

static char whole[1 << 16];  // one is enough: linux.uml traces from a single thread
static size_t whole_bytes;

long ptrace(enum __ptrace_request request, ...) {
  va_list arguments;
  va_start(arguments, request);
  const pid_t pid = va_arg(arguments, pid_t);
  void* const address = va_arg(arguments, void*);
  void* const data = va_arg(arguments, void*);
  va_end(arguments);

  static PtraceCall next;
  if (next == NULL) next = (PtraceCall)dlsym(RTLD_NEXT, "ptrace");
  if (request != PTRACE_SETREGSET || (long)address != NT_X86_XSTATE) {
    return next(request, pid, address, data);
  }
  if (whole_bytes == 0) {
    struct iovec all = {whole, sizeof whole};
    if (next(PTRACE_GETREGSET, pid, address, &all) < 0) return -1;
    whole_bytes = all.iov_len;
  }
  const struct iovec* const given = data;
  if (given->iov_len >= whole_bytes) return next(request, pid, address, data);
  memcpy(whole, given->iov_base, given->iov_len);
  memset(whole + given->iov_len, 0, whole_bytes - given->iov_len);
  struct iovec filled = {whole, whole_bytes};
  return next(request, pid, address, &filled);
}
