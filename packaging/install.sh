#!/bin/sh
# Installs Handover below a folder of yours, by default ~/.local. Never needs root, and changes nothing else.
#   sh install.sh                     install or upgrade
#   sh install.sh --prefix ~/tools    below another folder
#   sh install.sh --version 0.1.0     a certain version
#   sh install.sh --from DIR          from archives in a folder, or below another URL
#   sh install.sh --uninstall         delete what it installed
set -eu

version="@VERSION@"
from=""
prefix="${HANDOVER_PREFIX:-${HOME:-}/.local}"
task=install

say() { printf '%s\n' "$*" >&2; }
fail() { say "install.sh: $1"; shift; for hint in "$@"; do say "  $hint"; done; exit 1; }
value() { if [ -z "$2" ]; then fail "$1 needs a value." "For example: sh install.sh $1 $3"; fi; }

while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) value "$1" "${2:-}" "/home/ada/tools"; prefix="$2"; shift 2 ;;
    --version) value "$1" "${2:-}" "$version"; version="${2#v}"; shift 2 ;;
    --from) value "$1" "${2:-}" "./dist"; from="$2"; shift 2 ;;
    --uninstall) task=uninstall; shift ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0" 2>/dev/null || say "See @REPOSITORY@"; exit 0 ;;
    *) fail "unknown option $1." "sh install.sh --help lists all of them." ;;
  esac
done
if [ -z "$prefix" ] || [ "$prefix" = /.local ]; then fail "HOME is not set, so there is no folder to install to." "Name one: sh install.sh --prefix DIR"; fi
case "$version" in *[!0-9A-Za-z.+-]* | "") fail "\"$version\" is not a version." "Versions look like 0.1.0." ;; esac
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
list="$prefix/share/handover/installed"

# Deletes files of the list in $1 that are not in the list in $2, and folders that are empty then.
delete_others() {
  while IFS= read -r file; do
    case "$file" in "" | /* | *..*) continue ;; esac
    if [ -n "$2" ] && grep -qxF -- "$file" "$2"; then continue; fi
    rm -f -- "$prefix/$file"
    folder="${file%/*}"
    while [ "$folder" != "$file" ] && rmdir -- "$prefix/$folder" 2>/dev/null; do
      case "$folder" in */*) folder="${folder%/*}" ;; *) break ;; esac
    done
  done <"$1"
}

if [ "$task" = uninstall ]; then
  [ -f "$list" ] || fail "nothing is installed below $prefix." "If it is elsewhere: sh install.sh --uninstall --prefix DIR" "What npm, pip, brew, apt or cargo installed, they uninstall."
  copy="$(mktemp)" || fail "no temporary file can be created." "Check the free space and permissions of ${TMPDIR:-/tmp}, or set TMPDIR."
  cp "$list" "$copy"
  printf 'share/handover/installed\n' >>"$copy"
  delete_others "$copy" ""
  rm -f "$copy"
  [ ! -e "$prefix/bin/handover" ] || fail "$prefix/bin/handover could not be deleted." "Check the permissions of $prefix."
  say "Handover is deleted from $prefix. Projects keep their .handover folders, and agent programs their hooks;"
  say "a hook whose program is gone does nothing."
  exit 0
fi

# Which archive.
system="$(uname -s)"
processor="$(uname -m)"
case "$processor" in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) fail "there is no program for the processor $processor." "Build it: cargo install --git @REPOSITORY@ handover-cli" ;;
esac
case "$system" in
  Linux) target="$processor-unknown-linux-gnu" ;;
  Darwin) target="$processor-apple-darwin" ;;
  MINGW* | MSYS* | CYGWIN*) fail "this script is not for Windows." "Use npm install --global handover-cli, or uv tool install handover-cli." ;;
  *) fail "there is no program for $system." "Build it: cargo install --git @REPOSITORY@ handover-cli" ;;
esac
name="handover-cli-$version-$target"
archive="$name.tar.gz"

# With which tools.
command -v tar >/dev/null 2>&1 || fail "tar is not installed." "Install it with the package manager of your system."
command -v gzip >/dev/null 2>&1 || fail "gzip is not installed." "Install it with the package manager of your system."
if command -v sha256sum >/dev/null 2>&1; then
  sum() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v shasum >/dev/null 2>&1; then
  sum() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
elif command -v openssl >/dev/null 2>&1; then
  sum() { openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1; }
else
  fail "no program that computes SHA-256 is installed (sha256sum, shasum or openssl)." "Install one of them: what is downloaded must be verified."
fi

work="$(mktemp -d)" || fail "no temporary folder can be created." "Check the free space and permissions of ${TMPDIR:-/tmp}, or set TMPDIR."
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Gets the file $1 into the temporary folder.
from="${from:-${HANDOVER_INSTALL_FROM:-@REPOSITORY@/releases/download/v$version}}"
get() {
  case "$from" in
    http://*) fail "$from is not encrypted." "Use an https:// address or a local folder." ;;
    https://*)
      if command -v curl >/dev/null 2>&1; then
        curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 --output "$work/$1" "$from/$1" || return 1
      elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document="$work/$1" "$from/$1" || return 1
      else
        fail "neither curl nor wget is installed." "Install one, or download $from/$1 and $from/SHA256SUMS and pass their folder with --from."
      fi ;;
    *)
      [ -d "$from" ] || fail "there is no folder $from."
      [ -f "$from/$1" ] && cp "$from/$1" "$work/$1" ;;
  esac
}

say "Installing Handover $version for $target below $prefix"
get SHA256SUMS || fail "there are no checksums at $from." "Check the version ($version) and your connection; releases are listed at @REPOSITORY@/releases"
get "$archive" || fail "there is no $archive at $from." "Version $version may have no program for $target; see @REPOSITORY@/releases"
expected="$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")"
[ -n "$expected" ] || fail "SHA256SUMS has no line for $archive." "The release is incomplete; please report it at @REPOSITORY@/issues"
actual="$(sum "$work/$archive")"
[ "$actual" = "$expected" ] || fail "the checksum of $archive is wrong: nothing was installed." "expected $expected" "got      $actual" "The download was incomplete or changed on its way. Try again; if it stays wrong, report it at @REPOSITORY@/issues"
(cd "$work" && gzip -dc "$archive" | tar -xf -) || fail "$archive cannot be unpacked." "Check the free space of ${TMPDIR:-/tmp}, or set TMPDIR."
(cd "$work/$name" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$work/list"
"$work/$name/bin/handover" --version >"$work/version" 2>&1 || fail "the program does not run on this machine:" "$(cat "$work/version")" "If ${TMPDIR:-/tmp} forbids programs, set TMPDIR to another folder. Otherwise build it: cargo install --git @REPOSITORY@ handover-cli"

# Every file replaces its predecessor in one step: a hook that runs meanwhile finds the old or the new one.
while IFS= read -r file; do
  mkdir -p -- "$prefix/${file%/*}" 2>/dev/null || fail "the folder $prefix/${file%/*} cannot be created." "Use another one: sh install.sh --prefix DIR"
  { cp -- "$work/$name/$file" "$prefix/$file.new$$" && mv -f -- "$prefix/$file.new$$" "$prefix/$file"; } 2>"$work/error" \
    || { rm -f -- "$prefix/$file.new$$"; fail "$prefix/$file cannot be written: $(cat "$work/error")" "Use another folder: sh install.sh --prefix DIR"; }
done <"$work/list"
if [ -f "$list" ]; then cp "$list" "$work/before"; delete_others "$work/before" "$work/list"; fi
mkdir -p -- "${list%/*}"
cp "$work/list" "$list"

say "Installed: $(cat "$work/version")"
case ":$PATH:" in
  *":$prefix/bin:"*)
    found="$(command -v handover || true)"
    [ "$found" = "$prefix/bin/handover" ] || say "Note: your PATH finds another one first: $found" ;;
  *) say "Note: $prefix/bin is not in your PATH. Add it in your shell's profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
say "Next: handover demo, or handover init in a repository."
