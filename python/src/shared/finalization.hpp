// Parks threads when the interpreter finalizes; this file does not need pybind11.
//
// If a thread requests the GIL from a finalizing interpreter, Python 3.13 and older end the thread by pthread_exit().
// pthread_exit() unwinds the stack, and the process would abort if the unwinding reached a destructor or another
// noexcept function. billcore therefore parks the thread forever, as Python 3.14 does. interpreter_calls.cpp
// intercepts the calls into Python that can end a thread, including calls that pybind11 makes.
#pragma once

namespace billcore::python {

/// Has Py_FinalizeEx() started or finished? Any thread may call this function, with or without the GIL.
[[nodiscard]] bool is_finalizing() noexcept;
/// Is this the thread that runs signal handlers and finalizes the interpreter? Works with or without the GIL.
[[nodiscard]] bool on_main_thread() noexcept;
/// Does this thread hold the GIL?
[[nodiscard]] bool has_gil() noexcept;
/// Blocks the calling thread until the process ends.
[[noreturn]] void park() noexcept;
/// Parks the calling thread if the interpreter is finalizing, unless it is the main thread. A thread that runs for
/// long without the GIL must call park_if_finalizing() at least every 50 ms.
void park_if_finalizing() noexcept;

}  // namespace billcore::python
