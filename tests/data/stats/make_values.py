# SPDX-License-Identifier: GPL-3.0-or-later
"""The value of every code of the formats of up to 8 bits, as ml_dtypes decodes them, into values.json:

    python make_values.py values.json          (needs numpy and ml_dtypes)
"""
import json
import sys

import ml_dtypes
import numpy as np

NAMES = {"float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
         "float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3b11fnuz": 8, "float6_e2m3": 6, "float6_e3m2": 6, "float4_e2m1fn": 4}
ML = {"float6_e2m3": "float6_e2m3fn", "float6_e3m2": "float6_e3m2fn"}

table = {}
for name, bits in NAMES.items():
    codes = np.arange(1 << bits, dtype=np.uint8).view(getattr(ml_dtypes, ML.get(name, name)))
    table[name] = [float(v).hex() if np.isfinite(v) else str(float(v)) for v in codes.astype(np.float64)]
json.dump(table, open(sys.argv[1], "w"), indent=None, separators=(",", ":"))
