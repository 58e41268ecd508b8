#!/bin/bash
# Fetches the weights of language models once, for vLLM: fetch_language_models.sh FOLDER [REPOSITORY[@REVISION] ...]
#
# Needs Hugging Face's `hf` (pip install huggingface_hub) and, for gated models such as Llama, HF_TOKEN in the
# environment. Takes safetensors and JSON alone: no pickles, no code. Each folder gets a REVISION and SHA256SUMS; what is
# whole is checked and not fetched again.
set -euo pipefail
folder=${1:?"say where: fetch_language_models.sh FOLDER [REPOSITORY[@REVISION] ...]"}
shift
(($#)) || set -- hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4 TheBloke/Mistral-7B-Instruct-v0.2-AWQ \
  Qwen/Qwen2.5-7B-Instruct-AWQ Qwen/Qwen2.5-Coder-7B-Instruct-AWQ
command -v hf >/dev/null || { echo "there is no 'hf' here: pip install huggingface_hub" >&2; exit 1; }

for wanted; do
  repository=${wanted%@*} revision=main
  [[ $wanted == *@* ]] && revision=${wanted#*@}
  [[ $repository == */* ]] || { echo "$wanted is no repository; expected OWNER/NAME or OWNER/NAME@REVISION" >&2; exit 1; }
  place=$folder/${repository#*/}
  if [[ -f $place/SHA256SUMS && $(cat "$place/REVISION") == "$revision" ]]; then
    (cd "$place" && sha256sum --check --quiet SHA256SUMS)
    echo "$repository is there"
    continue
  fi
  hf download "$repository" --revision "$revision" --local-dir "$place.part" \
    --include "*.safetensors" "*.json" "*.model" "tokenizer*" "LICENSE*" "README.md"
  compgen -G "$place.part/*.safetensors" >/dev/null || { echo "$repository has no safetensors" >&2; exit 1; }
  rm -rf "$place.part/.cache" "$place"
  (cd "$place.part" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS && echo "$revision" >REVISION)
  mv "$place.part" "$place"
  echo "$repository is whole: $(du -sh "$place" | cut -f1)"
done
