#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of pickles for tst_pickle_tree: NAME.a.pkl and NAME.b.pkl.

different/  objects that are not equal, and differ where a reader that cuts or drops does not look
storages/   tensors where a pickle is printed rather than listed
same/       one object written in two protocols, or with another order of its sets
"""
import io
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


class Blob:
    def __init__(self, content):
        self.content = content

    def __reduce__(self):
        return (Blob, (self.content,))


class K:
    """Unhashed by content, so that several fit into a set or a dictionary."""

    def __init__(self, i):
        self.i = i


class Slots:
    __slots__ = ("s",)

    def __init__(self, s):
        self.s = s


class F(float):
    pass


class L(list):
    pass


class D(dict):
    pass


class Called:
    """Written as a call of a name that need not exist here."""

    def __init__(self, module, name, *arguments):
        self.module, self.name, self.arguments = module, name, arguments


class Name:
    def __init__(self, module, name):
        self.module, self.name = module, name


class Storage:
    def __init__(self, key, *numbers):
        self.key, self.content = key, struct.pack(f"<{len(numbers)}f", *numbers)


def tensor(storage):
    count = len(storage.content) // 4
    return Called("torch._utils", "_rebuild_tensor_v2", storage, 0, (count,), (1,), False, {})


class Pickler(pickle._Pickler):
    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, Name):
            return self.write(b"c" + obj.module.encode() + b"\n" + obj.name.encode() + b"\n")
        if isinstance(obj, Called) and id(obj) not in self.memo:
            self.save(Name(obj.module, obj.name))
            self.save(tuple(obj.arguments))
            self.write(b"R")
            return self.memoize(obj)
        return super().save(obj, save_persistent_id)


    def persistent_id(self, obj):
        if isinstance(obj, Storage):
            return ("storage", Name("torch", "FloatStorage"), obj.key, "cpu", len(obj.content) // 4)
        return None


def dumps(obj, protocol):
    out = io.BytesIO()
    Pickler(out, protocol).dump(obj)
    return out.getvalue()


def write(folder, name, a, b):
    for side, content in (("a", a), ("b", b)):
        (HERE / folder / f"{name}.{side}.pkl").write_bytes(content)


def nested(value, levels):
    for _ in range(levels):
        value = (value,)
    return value


def different():
    def pair(name, make, protocol=2):
        write("different", name, dumps(make(1), protocol), dumps(make(2), protocol))

    for protocol in (2, 4):
        pair(f"set_of_long_text_p{protocol}", lambda x: {"seen": {"a" * 300 + str(x)}}, protocol)
        pair(f"frozenset_of_long_text_p{protocol}", lambda x: {"seen": frozenset(["a" * 300 + str(x)])}, protocol)
        pair(f"set_of_objects_p{protocol}", lambda x: {"s": {K(x)}}, protocol)
        pair(f"set_of_slots_p{protocol}", lambda x: {"s": {Slots(x)}}, protocol)
        pair(f"long_set_p{protocol}", lambda x: {"s": set(range(1500)) | {7000 + x}}, protocol)
        pair(f"object_keys_p{protocol}", lambda x: {K(1): 8 + x, K(2): 5}, protocol)
        pair(f"long_keys_p{protocol}", lambda x: {("k" * 600, 0): x, ("k" * 600, 1): 5}, protocol)
        pair(f"deep_arguments_p{protocol}", lambda x: {"o": Blob(nested(x, 30))}, protocol)
        pair(f"long_arguments_p{protocol}", lambda x: {"o": Blob("t" * 5000 + str(x))}, protocol)
    for protocol in (0, 1, 2):
        pair(f"float_subclass_p{protocol}", lambda x: {"lr": F(x / 10)}, protocol)
        pair(f"list_subclass_p{protocol}", lambda x: {"l": L([1, x])}, protocol)
        pair(f"dict_subclass_p{protocol}", lambda x: {"d": D(k=x)}, protocol)
    pair("numpy_bytes", lambda x: {"x": np.bytes_(b"a" * 5000 + str(x).encode())})
    fields = np.dtype([("a", "S6000")])
    pair("numpy_void", lambda x: {"x": np.array([(b"a" * 5000 + str(x).encode(),)], fields)[0]})
    pair("numpy_text_with_nul", lambda x: {"x": np.str_("a\0b" if x == 1 else "ab")})
    pair("numpy_type_offsets", lambda x: {"x": np.dtype({"names": ["a", "b"], "formats": ["u1", "u1"], "offsets": [0, x], "itemsize": 4})})
    pair("rounded_numbers", lambda x: [0.5] + [2**53 + x - 1] * 80)
    pair("set_of_nans", lambda x: {"s": {float("nan") if x == 1 else -float("nan")}})
    pair("codec", lambda x: {"b": Called("_codecs", "encode", "\u00e9", "latin1" if x == 1 else "utf-8")})
    pair("default_factory", lambda x: {"d": Called("collections", "defaultdict", Blob(x))})
    pair("csr_size", lambda x: {"w": Called("torch._utils", "_rebuild_sparse_csr_tensor", [0, 1], [0], [1.0], (1, x), False)})
    pair("subclass_arguments", lambda x: {"w": Called("torch._tensor", "_rebuild_from_type_v2", Name("torch._tensor", "unknown"), Name("torch._tensor", "Sub"), (x,), {"q": 1})})
    pair("device_extra", lambda x: {"d": Called("torch", "device", "cuda", 0, x)})
    # BUILD twice: Python updates the attributes with both.
    build = b"\x80\x02c__main__\nK\n)\x81}X\x01\x00\x00\x00xK%csb}X\x01\x00\x00\x00yK\x05sb."
    write("different", "two_states", build % 1, build % 2)
    # Several pickles in one file, as pickle.dump to one open file writes them.
    write("different", "second_pickle", *(dumps({"lr": 1.0}, 4) + dumps({"step": x}, 4) for x in (1, 2)))


def same():
    objects = {
        "sets": {"s": {"a", "b", "c" * 400}, "f": frozenset([1, 2]), "empty": set(), "nested": {frozenset(["q", "r"])}},
        "long_bytes_in_call": {"o": Blob((bytes(range(256)) * 20,))},
        "bytearray_in_call": {"o": Blob((bytearray(b"\xff" * 5000),))},
        "keys": {(1, "x"): 1, None: 2, b"\xe9": 3, frozenset([2, 1]): 4},
        "objects_in_sets": {"s": {Slots("t" * 5000)}},
    }
    for name, value in objects.items():
        for protocol in (3, 4, 5):
            write("same", f"{name}_2_{protocol}", dumps(value, 2), dumps(value, protocol))
    for name, value in (("float_subclass", F(0.5)), ("list_subclass", L([1, 2])), ("dict_subclass", D(k=1)), ("plain_object", K(3))):
        write("same", f"{name}_0_2", dumps(value, 0), dumps(value, 2))
    # The order in which a set of text is written differs from process to process.
    texts = [chr(97 + i) * 300 for i in range(20)]
    head, tail = b"\x80\x04\x8f(", b"\x90."
    binary = [b"X" + len(t).to_bytes(4, "little") + t.encode() for t in texts]
    write("same", "order_of_a_set", head + b"".join(binary) + tail, head + b"".join(reversed(binary)) + tail)


def storages():
    """Archives as torch.save writes them: a tensor that is only a key or a member of a set, and one that is listed too."""
    def archive(name, make):
        storage = Storage("0", 1, 2, 3)
        with zipfile.ZipFile(HERE / "storages" / f"{name}.pt", "w") as z:
            for record, content in (("data.pkl", dumps(make(tensor(storage)), 2)), ("byteorder", b"little"), ("data/0", storage.content), ("version", b"3\n")):
                z.writestr(zipfile.ZipInfo(f"archive/{record}"), content)

    archive("only_a_key", lambda t: {t: 1})
    archive("only_a_member", lambda t: {"seen": {t}})
    archive("key_and_item", lambda t: {"state": {t: 1}, "params": [t]})


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets of text
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    for folder in ("different", "same", "storages"):
        (HERE / folder).mkdir(exist_ok=True)
    different()
    same()
    storages()
    # numpy's own word on text scalars: zeros at the end go, others stay.
    assert pickle.loads(pickle.dumps(np.str_("a\0b"))) == "a\0b"
    sys.exit(0)
