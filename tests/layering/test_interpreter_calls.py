"""Checks that every Python C API function that the modules use is wrapped in interpreter_calls.cpp or listed as
harmless."""

from __future__ import annotations

import re

import pytest

from .test_binaries import ROOT, module, run

GATE = ROOT / "python/src/shared/interpreter_calls.cpp"

# Functions that do not run Python code, collect garbage, destroy an object in use, or wait for the GIL.
HARMLESS = set(
    re.findall(
        r"\w+",
        """
        PyBuffer_IsContiguous PyByteArray_AsString PyByteArray_Size PyBytes_AsString PyBytes_AsStringAndSize
        PyBytes_FromString PyBytes_FromStringAndSize PyBytes_Size PyCallable_Check PyCapsule_GetContext
        PyCapsule_GetName PyCapsule_GetPointer PyCapsule_New PyCapsule_SetContext PyCapsule_SetDestructor
        PyDict_Next PyErr_ExceptionMatches PyErr_FormatV PyErr_GivenExceptionMatches PyErr_NoMemory
        PyErr_Occurred PyErr_SetInterrupt PyEval_GetBuiltins PyEval_SaveThread
        PyException_GetContext PyFloat_FromDouble PyFrame_GetCode
        PyFrame_GetLineNumber PyGILState_Check PyGILState_GetThisThreadState PyImport_GetModuleDict PyIndex_Check
        PyInterpreterState_Get PyInterpreterState_GetDict PyInterpreterState_Main PyInterpreterState_ThreadHead
        PyList_GetItem PyList_Size PyLong_FromLong PyLong_FromLongLong PyLong_FromSize_t PyLong_FromSsize_t
        PyLong_FromString PyLong_FromUnsignedLong PyMapping_Check PyMem_Calloc PyMem_Free PyNumber_Check
        PyOS_double_to_string PyObject_CheckBuffer PyObject_Free PyObject_GC_Track PyObject_GC_UnTrack
        PyObject_HashNotImplemented PyObject_Malloc PySequence_Check PyStructSequence_SetItem
        PyThreadState_DeleteCurrent PyThreadState_GetUnchecked PyThreadState_New PyThreadState_Next
        PyThread_get_thread_ident PyThread_tss_create PyThread_tss_delete PyThread_tss_get PyThread_tss_set
        PyTuple_GetItem PyTuple_SetItem PyTuple_Size PyType_IsSubtype
        PyUnicode_AsUTF8AndSize PyUnicode_AsUTF8String PyUnicode_Compare
        PyUnicode_DecodeUTF8 PyUnicode_FromFormat PyUnicode_FromString PyUnicode_FromStringAndSize
        PyUnicode_GetLength PyUnicode_InternFromString PyUnicode_Substring Py_AddPendingCall Py_AtExit
        Py_GetVersion Py_IsFinalizing Py_IsInitialized _PyObject_GetDictPtr _PyObject_New
        _PyThreadState_UncheckedGet _PyType_Lookup _Py_IsFinalizing
        """,
    )
)
# Functions that the modules call only while they are imported.
STARTING = {
    "PyDict_SetItemString",
    "PyModuleDef_Init",
    "PyNumber_Or",
    "PyObject_CallFunctionObjArgs",
    "PyType_Modified",
}


def gated() -> set[str]:
    text = GATE.read_text()
    return set(re.findall(r"^(?:GATED|ENTERED)\((\w+),", text, re.M)) | set(
        re.findall(r'asm\("__wrap_(Py\w+)"\)', text)
    )


def used(name: str) -> set[str]:
    symbols = {
        line.split()[-1].split("@")[0] for line in run("nm", "-D", "--undefined-only", module(name)).splitlines()
    }
    return {
        symbol
        for symbol in symbols
        if re.match(r"_?Py", symbol) and not re.match(r"PyExc_|.*(_Type|Type|Struct|_EllipsisObject)$", symbol)
    }


@pytest.mark.parametrize("name", ["_webhook", "_client"])
def test_every_call_into_python_has_a_gate_or_needs_none(name: str) -> None:
    assert used(name) - gated() - HARMLESS - STARTING == set()
    assert used(name) & gated(), "the table was read"


def test_no_function_is_in_two_lists() -> None:
    assert gated() & (HARMLESS | STARTING) == set()
