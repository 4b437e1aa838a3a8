"""Writes a C function that makes each call of sharedcore.h in a forked child and checks that it is refused there.

    forked_calls.py HEADER > forked_calls.h

It reads the header, so that no call is left out: a declaration that it cannot read is an error.
"""

import re
import sys

# What returns no code and frees nothing gives the same text or number in a child.
CONSTANTS = {"sc_abi", "sc_code_name", "sc_version"}

text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.DOTALL)
handles = {"sc_handle", *re.findall(r"^typedef sc_handle (\w+);", text, re.MULTILINE)}
declarations = re.findall(r"^(int32_t |uint32_t |void |const char \*)(sc_\w+)\(([^)]*)\);", text, re.MULTILINE)
named = set(re.findall(r"\b(sc_\w+)\(", text))
read = {name for _, name, _ in declarations}
if named != read:
    sys.exit(f"These declarations were not understood: {sorted(named ^ read)}")


def type_of(parameter: str) -> str:
    return re.sub(r"\w+$", "", parameter.strip()).strip()


def value_of(kind: str) -> str:
    return "handle" if kind in handles else "&error" if kind == "sc_error *" else f"({kind})0"


print("// Written by forked_calls.py.")
print("static void make_forked_calls(sc_handle handle) {")
for result, name, parameters in declarations:
    kinds = [] if parameters == "void" else [type_of(parameter) for parameter in parameters.split(",")]
    arguments = ", ".join(map(value_of, kinds))
    print("    memset(&error, 0, sizeof error);")
    if result == "int32_t ":
        print(f"    CHECK_CODE(SC_ERR_FORKED, {name}({arguments}));")
        if "sc_error *" in kinds:
            print(f"    CHECK(error.code == SC_ERR_FORKED && error.message[0] != 0);")
    elif result == "void ":
        # Bytes that stand for no memory: to free them would end the child.
        (kind,) = kinds
        print("    {")
        print(f"        union {{ {kind[:-1].strip()} value; char bytes[1]; }} freed, former;")
        print("        memset(&freed, 0x5a, sizeof freed);")
        print("        former = freed;")
        print(f"        {name}(&freed.value);")
        print("        CHECK(memcmp(&freed, &former, sizeof freed) == 0);")
        print("    }")
    elif name in CONSTANTS:
        print(f"    CHECK({name}({arguments}) != 0);")
    else:
        sys.exit(f"{name} returns no code: say here what a forked child gets.")
print("}")
print(f"enum {{ forked_call_count = {len(declarations)} }};")
