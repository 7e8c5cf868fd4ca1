# Make a C array of hooks/hook.sh: cmake -DSCRIPT=... -DHEADER=... -P this
file(READ "${SCRIPT}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
	"\\1\n" bytes "${bytes}")
file(WRITE "${HEADER}" "static const char hook_text[] = {\n${bytes}0x00\n};\n")
