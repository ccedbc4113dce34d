"""Texts that are read, with their canonical forms, and texts that are refused."""

import json

from securesystemslib.formats import encode_canonical

ACCEPTED = {
    "an empty object": "{}",
    "an empty array": "[]",
    "white space everywhere": " \t\r\n{ \"a\" : [ 1 , 2 ] ,\n\"b\" : { } } \n",
    "names in the order of their bytes": '{"b":1,"a":2,"B":3,"aa":4,"":5,"é":6,"z":7,"\U0001f600":8,"\uffee":9}',
    "names that escapes spell": '{"\\u0062":1,"a":2}',
    "the highest integer": "9007199254740991",
    "the lowest integer": "-9007199254740991",
    "zero": "0",
    "words": "[true,false,null]",
    "a quote and a backslash": '"a\\"b\\\\c"',
    "control characters are verbatim": '"\\u0000\\u0001\\b\\f\\n\\r\\t\\u001f\\u007f"',
    "a slash is not escaped": '"\\/a/"',
    "letters beyond ASCII": '"\\u00e9\u00e9\\ud83d\\ude00\U0001f600\\u20ac"',
    "upper-case escapes": '"\\u00E9"',
    "a byte order mark within a string": '"\ufeff"',
    "white space of other kinds within a string": '"\u00a0\u2028\u2029"',
    "nested to the bound": "[" * 32 + "]" * 32,
    "objects and arrays nested to the bound": '{"a":[' * 16 + "]}" * 16,
    "names that differ by case or normal form": '{"A":1,"a":2,"\u00e9":3,"e\u0301":4}',
}

REFUSED = {
    "syntax": [
        "", " ", "{", "}", "[", "]", '"', "nul", "nulll", "True", "NaN", "Infinity", "undefined", "'a'", "{a:1}",
        '{"a"}', '{"a":}', '{"a" 1}', '{"a":1,}', '{,"a":1}', '{"a":1 "b":2}', "{1:2}", "{null:1}", "[1,]", "[,1]", "[1 2]",
        "[1}", '{"a":1]', "{}{}", "[] []", "{};", "// no\n{}", "/* no */{}", "{}\u0000", "\ufeff{}", "\u00a0{}", "\u000b{}",
        '"\n"', '"\t"', '"\u0000"', '"\u001f"', '"\\x41"', '"\\u12"', '"\\u00g0"', '"\\u+123"', '"\\U0041"', '"\\', '"\\"',
        '"a\\\n"', "+1", ".5",
    ],
    "number": [
        "1.0", "1.", "1e3", "1E3", "1e-3", "-0", "0.0", "-0.0", "00", "01", "-01", "-", "--", "1-", "1+1", "0x10", "9007199254740992",
        "-9007199254740992", "9007199254740993", "18446744073709551616", "1" * 400, "1e400", "[1,2.5]", "{\"a\":1.0}",
    ],
    "duplicate-name": ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"":1,"":2}}]', '{"a":1,"b":{"a":2},"a":3}'],
    "surrogate": ['"\\ud800"', '"\\udc00"', '"\\ud800\\ud800"', '"\\udc00\\ud800"', '"\\ud800x"', '"\\ud800\\n"', '{"\\udfff":1}'],
    "depth": ["[" * 33 + "]" * 33, '{"a":' * 33 + "1" + "}" * 33],
}
# What starts like a number is read as one; `0x10` ends after its zero.
SYNTAX_AFTER_NUMBER = {"0x10"}
BYTES = {"encoding": ["22ff22", "22c080 22", "22eda08022", "22f4908080 22", "22c3", "e2282822", "22c322"]}
REPEATED = {"depth": [("[", 60000), ('{"a":', 10000)], "too-large": [(" ", 65537), ("1", 65537)]}


def vectors():
    accepted = []
    for name, text in ACCEPTED.items():
        canonical = encode_canonical(json.loads(text))
        accepted.append({"name": name, "text": text, "canonical": canonical})
    refused = []
    for reason, texts in REFUSED.items():
        for text in texts:
            refused.append({"text": text, "reason": "syntax" if text in SYNTAX_AFTER_NUMBER else reason})
    for reason, texts in BYTES.items():
        refused += [{"hex": text.replace(" ", ""), "reason": reason} for text in texts]
    for reason, texts in REPEATED.items():
        refused += [{"repeat": text, "count": count, "reason": reason} for text, count in texts]
    return {"limit": 65536, "accepted": accepted, "refused": refused}
