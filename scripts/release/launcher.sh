#!/bin/sh
# Runs signage with the Node.js of this folder, also through a symbolic link.
file=$0
while [ -L "$file" ]; do
  target=$(readlink "$file")
  case $target in
    /*) file=$target ;;
    *) file=${file%/*}/$target ;;
  esac
done
case $file in
  */*) folder=${file%/*} ;;
  *) folder=. ;;
esac
exec "$folder/bin/node" "$folder/package/bin/signage.js" "$@"
