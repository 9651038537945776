# SPDX-License-Identifier: Apache-2.0
# Nothing that is compiled into plug-ins and callers may move: offsets, sizes and numbers stand in layout.txt, the
# same for all 64-bit machines we know. New members and numbers are added there; what stands there stays.

. "$JIANMU_SOURCE/tests/tap.sh" || exit 1
now=$("$JIANMU_BUILD/tests/abi/layout")
is "sizes, offsets and numbers are as kept" "$(diff "$JIANMU_SOURCE/tests/abi/layout.txt" - <<< "$now")" ""

# layout.c must know of all: every member of a struct, every number of an enumeration or a flag.
headers="$JIANMU_SOURCE/libjianmu/jianmu.h $JIANMU_SOURCE/libjianmu/jianmu-plugin.h"
numbers=$(sed -n -e 's/^ *\(JIANMU_[A-Z_]*\) = [0-9]*,\{0,1\}.*/\1/p' \
    -e 's/^#define \(JIANMU_[A-Z_]*\) 0\{0,1\}[0-9xa-f][0-9xa-f]*u .*/\1/p' \
    -e 's/^#define \(JIANMU_[A-Z_]*\) 0\{0,1\}[0-9xa-f][0-9xa-f]*u$/\1/p' $headers | grep -vx JIANMU_ABI | sort)
is "no number is forgotten" "$(comm -23 <(sort <<< "$numbers") <(sed -n 's/^\(JIANMU_[A-Z_]*\) .*/\1/p' <<< "$now" | sort))" ""
ok "numbers were found" test "$(wc -w <<< "$numbers")" -gt 35
structs=$(sed -n 's/^\(typedef \)\{0,1\}struct jianmu_\([a-z_]*\) {.*/\2/p' $headers)
for s in $structs; do
    like "struct jianmu_$s is looked at" "$now" "(^|"$'\n'")(jianmu_)?$s size [0-9]+"
done

# What is in a struct leaves no hole that layout.txt does not know of: its members fill it.
is "every member is looked at" "$(awk '
    $2 == "size" { if (type != "" && at % align) at += align - at % align
                   if (type != "" && at != size) print type ": members end at " at ", the struct at " size
                   type = $1; size = $3; align = $5; at = 0; next }
    index($1, type ".") == 1 { if ($2 > at && $2 - at >= 8) print $1 ": a hole before it"; at = $2 + $3 }
    ' <<< "$now")" ""

tap_done
