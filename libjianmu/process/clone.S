/* SPDX-License-Identifier: Apache-2.0
 * long jm_clone(unsigned long flags, void *stack_top, int (*fn)(void *), void *arg)
 * Nothing is put on the child's stack: valgrind forks instead and ignores that stack. */
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
    .text
    .globl jm_clone
    .hidden jm_clone
    .type jm_clone, %function
#if defined(__x86_64__)
jm_clone:
    .cfi_startproc
    endbr64
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    mov %rdx, %r9
    mov %rcx, %rbx
    and $-16, %rsi
    xor %edx, %edx
    xor %r10d, %r10d
    xor %r8d, %r8d
    mov $56, %eax
    syscall
    test %rax, %rax
    jz 1f
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_endproc
1:
    .cfi_startproc
    .cfi_undefined %rip
    xor %ebp, %ebp
    mov %rbx, %rdi
    call *%r9
    mov %eax, %edi
    mov $60, %eax
    syscall
    hlt
    .cfi_endproc
#ifdef __CET__
    .section .note.gnu.property, "a"
    .balign 8
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000002, 4, __CET__, 0
#endif
#elif defined(__aarch64__)
jm_clone:
    .cfi_startproc
    hint #34
    mov x9, x2
    mov x10, x3
    mov x2, #0
    mov x3, #0
    mov x4, #0
    and x1, x1, #-16
    mov x8, #220
    svc #0
    cbz x0, 1f
    ret
    .cfi_endproc
1:
    .cfi_startproc
    .cfi_undefined x30
    mov x29, #0
    mov x30, #0
    mov x0, x10
    blr x9
    mov x8, #93
    svc #0
    brk #1
    .cfi_endproc
#else
#error "jm_clone is written for x86_64 and aarch64"
#endif
