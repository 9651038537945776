# SPDX-License-Identifier: Apache-2.0
# Who could change what would be loaded? Directories, links and owners.

. "$JIANMU_SOURCE/tests/plugins/kit.sh" || exit 1
root=$([ "$(id -u)" = 0 ] && echo yes)

look_at() {
    lines=$("$look" "$@")
}
other_owner() {
    if [ -n "$root" ]; then chown -h 4242 "$1"; else return 1; fi
}

# ---- directories ----
look_at "$dir/nothing" "$dir"
is "a directory that does not exist is passed over" "$lines" ""

mkdir -p "$dir/file" && : > "$dir/file/tools"
look_at "$dir/file"
refused tools not_directory "$dir/file/tools is not a directory"

put good "$dir/a/tools/good.so"
cd "$dir" && look_at a
refused good.so relative "a/tools is not an absolute path"
look_at "$dir/a/../a/."
usable good.so

put other_good "$dir/b/tools/other.so"
chmod 0775 "$dir/a/tools"
look_at "$dir/a" "$dir/b"
refused good.so ancestor_mode "directory $dir/a/tools can be written by its group (mode 0775); mend it with: chmod go-w $dir/a/tools"
usable other.so
chmod 0755 "$dir/a/tools" && chmod 0757 "$dir/a"
look_at "$dir/a"
refused good.so ancestor_mode "directory $dir/a can be written by others (mode 0757); mend it with: chmod go-w $dir/a"
eval "$(column 6 good.so | sed 's/.*mend it with: //')"
look_at "$dir/a"
usable good.so
chmod 1777 "$dir/a"
look_at "$dir/a"
usable good.so
chmod 0755 "$dir/a"

mkdir -p "$dir/many/tools" && (cd "$dir/many/tools" && seq -f '%g.so' 4097 | xargs touch)
look_at "$dir/many"
refused tools too_many "directory $dir/many/tools holds more than 4096 files *.so"

# ---- links ----
mkdir -p "$dir/l" "$dir/store" "$dir/open" && chmod 0777 "$dir/open"
put good "$dir/store/x.so"
ln -s ../store "$dir/l/tools"
look_at "$dir/l"
usable x.so
ln -s "$dir/l" "$dir/l2"
look_at "$dir/l2"
usable x.so
ln -sfn "$dir/open/../store" "$dir/l/tools"
look_at "$dir/l"
refused x.so ancestor_mode "directory $dir/open can be written by group and others (mode 0777); mend it with: chmod go-w $dir/open"
rm "$dir/l/tools"; mkdir "$dir/l/tools"
ln -s "$dir/store/x.so" "$dir/l/tools/y.so"
look_at "$dir/l"
usable y.so
lines=$("$look" --run "$dir/l")
like "a link to a good file is loaded" "$lines" "good = 42"

# ---- access lists ----
if "$look" --acl "$dir/store/x.so" 2>/dev/null; then
    look_at "$dir/l"
    refused y.so mode "file $dir/store/x.so has an access list that lets others write to it; mend it with: setfacl -b $dir/store/x.so && chmod go-w $dir/store/x.so"
else
    skip "y.so is refused for its access list" "this file system has no access lists"
fi

# ---- owners ----
put good "$dir/o/tools/mine.so"
put other_good "$dir/o/tools/theirs.so"
mkdir -p "$dir/d" && put good "$dir/d/tools/in_theirs.so"
mkdir -p "$dir/sticky" "$dir/k/tools" && chmod 1777 "$dir/sticky"
ln -s "$dir/o/tools/mine.so" "$dir/sticky/planted" && ln -s "$dir/sticky/planted" "$dir/k/tools/planted.so"
if [ -n "$root" ]; then
    chown 4242 "$dir/o/tools/theirs.so"
    look_at "$dir/o"
    refused theirs.so owner "file $dir/o/tools/theirs.so belongs to user 4242, who is neither root nor the user this runs as (0); mend it with: chown -h 0 $dir/o/tools/theirs.so"
    usable mine.so
    chown 4242 "$dir/d"
    look_at "$dir/d"
    refused in_theirs.so ancestor_owner "directory $dir/d belongs to user 4242, who is neither root nor the user this runs as (0); mend it with: chown -h 0 $dir/d"
    look_at "$dir/k"
    usable planted.so
    chown -h 4242 "$dir/sticky/planted"
    look_at "$dir/k"
    refused planted.so link "symbolic link $dir/sticky/planted belongs to user 4242, who is neither root nor the user this runs as (0); mend it with: chown -h 0 $dir/sticky/planted"
else
    skip "theirs.so is refused for its owner" "only root can give files away"
    skip "in_theirs.so is refused for the owner of its directory" "only root can give files away"
    skip "planted.so is refused for the owner of a link" "only root can give files away"
fi

# ---- what cannot be read ----
as_user=()
if [ -n "$root" ]; then
    as_user=(setpriv --reuid=4242 --regid=4242 --clear-groups)
    chmod 0711 "$dir"
    cp "$look" "$dir/look" && look=$dir/look
fi
put good "$dir/u/tools/secret.so" && chmod 0600 "$dir/u/tools/secret.so"
put other_good "$dir/u/tools/plain.so"
put good "$dir/v/tools/x.so"
if [ -z "$root" ]; then
    chmod 0 "$dir/u/tools/secret.so"
fi
chmod 0311 "$dir/v/tools"
if "${as_user[@]}" "$look" > /dev/null 2>&1; then
    lines=$("${as_user[@]}" "$look" "$dir/u" "$dir/v")
    usable plain.so
    refused secret.so unreadable "file $dir/u/tools/secret.so: Permission denied"
    refused tools unreadable "directory $dir/v/tools: Permission denied"
else
    skip "plain.so beside them is usable" "another user cannot run here"
    skip "secret.so is refused: unreadable" "another user cannot run here"
fi
chmod 0755 "$dir/v/tools"

tap_done
