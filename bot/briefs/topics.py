"""The topic of a brief that names none, judged by rules from its title, dek and tags.

Measured recommendation (search.md, section 3): the sum of weights 6 (a product that stands for its topic), 3 (a strong
word) and 1 (a weak one), title three times, dek once, body left out (it lowers accuracy). Words are whole words: "ai"
is not in "said", "go" not in "Chicago", "java" not in "JavaScript"; "c++", "c#", ".net" and "node.js" are words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bot.briefs.model import Topic

TOPICS = {
    "data-ai": Topic("Data & AI", "data-ai"),
    "security": Topic("Security", "security"),
    "cloud": Topic("Cloud", "cloud"),
    "hardware": Topic("Hardware", "hardware"),
    "software": Topic("Software", "software"),
    "science": Topic("Science", "science"),
}

PRODUCT, STRONG, WEAK = 6, 3, 1
TITLE, TAG, DEK = 3, 3, 1

# One line a weight. A trailing * matches any ending of a word; a space matches any gap.
_WORDS: dict[str, dict[int, str]] = {
    "data-ai": {
        PRODUCT: """pytorch|tensorflow|jax|keras|hugging face|openai|chatgpt|gpt-*|gpt4|gpt5|anthropic|claude|gemini|
            deepmind|mistral|mixtral|llama|deepseek|qwen|grok|xai|midjourney|stable diffusion|copilot|pgvector|polars|pandas|
            numpy|duckdb|databricks|snowflake|dbt|apache spark|apache iceberg|iceberg|apache kafka|kafka|airflow|langchain|
            llamaindex|ollama|vllm|cohere|perplexity|notebooklm|scikit-learn|jupyter|mlflow|bigquery|clickhouse|nccl|
            深度求索|通义千问|文心一言|智谱|月之暗面|ai act|sora|codex|cursor|scale ai|elevenlabs|pinecone|weaviate|milvus|qdrant""",
        STRONG: """ai|a.i.|artificial intelligence|machine learning|deep learning|neural network*|llm*|
            large language model*|language model*|foundation model*|generative ai|genai|chatbot*|transformer model*|
            fine-tuning|fine-tune*|inference|embeddings|vector database*|vector search|rag|agentic|ai agent*|data science|
            data warehouse*|data lake*|lakehouse|data engineering|dataframe*|analytics|mixture-of-experts|multimodal|
            text-to-image|text-to-video|diffusion model*|reinforcement learning|open-weight*|open model*|speech recognition|
            computer vision|künstliche intelligenz|ki|ki-modell*|sprachmodell*|umetna inteligenca|umetne inteligence|ui|
            intelligence artificielle|inteligencia artificial|inteligência artificial|intelligenza artificiale|ia|
            人工智能|大模型|机器学习|生成式|人工知能|生成ai|機械学習|인공지능|생성형|машинн* обучени*|нейросет*|
            искусственн* интеллект*|штучн* інтелект*""",
        WEAK: "model|models|training|dataset*|data|benchmark*|parameters|token*|notebook*|prompt*|agent*|robot*|automation",
    },
    # A story of an attack or a hole names the product that was hit: what happened weighs as much as its name.
    "security": {
        PRODUCT: """cve-*|openssl|ransomware|zero-day|zero day|0-day|lockbit|crowdstrike|fido|passkey*|metasploit|wireshark|
            kaspersky|okta|1password|bitwarden|lastpass|let's encrypt|cisa|infostealer*|log4shell|heartbleed|spectre|
            fortinet|palo alto networks|sentinelone|have i been pwned|vulnerabilit*|exploit|exploits|exploited|malware|
            phishing|hacker*|hacked|breach|breaches|data leak|leaked credential*|backdoor*|botnet*|trojan*|worm|spyware|
            rootkit*|ddos|typosquat*|supply chain attack*|supply-chain attack*|cyberattack*|cyber attack*|cybersecurity|
            privilege escalation|remote code execution|buffer overflow|sql injection|guest escape|sandbox escape|
            in the wild|poisoning|threat actor*|sicherheitslück*|schwachstell*|schadsoftware|cyberangriff*|hackerangriff*|
            datenleck*|ranljivost*|kibernetsk*|vulnérabilité*|cyberattaque*|vulnerabilidad*|ciberataque*|vulnerabilità|
            漏洞|勒索软件|黑客|网络安全|脆弱性|ランサムウェア|サイバー攻撃|취약점|랜섬웨어|해킹|уязвимост*|кибератак*|хакер*""",
        STRONG: """security|hack|cyber|encryption|encrypted|authentication|2fa|mfa|password*|credential*|rce|xss|patch
            tuesday|advisory|apt group*|surveillance|varnostn*|faille*|вирус*|infect*|compromises|compromised""",
        WEAK: "attack*|attacker*|malicious|flaw*|bug|patches|privacy|certificate*|stole|stolen|steal*|theft|fraud|scam*|secrets",
    },
    "cloud": {
        PRODUCT: """aws|amazon web services|azure|google cloud|gcp|kubernetes|k8s|docker|terraform|opentofu|cloudflare|
            dynamodb|ec2|lambda function*|cloudfront|fastly|heroku|vercel|netlify|digitalocean|hetzner|ovh|ovhcloud|
            openshift|openstack|helm|istio|argo cd|prometheus|grafana|datadog|pulumi|ansible|oracle cloud|akamai|fly.io|
            cloud run|eks|gke|aks|podman|containerd|cilium|envoy|nomad|crossplane""",
        STRONG: """cloud|clouds|serverless|cloud region*|availability zone*|data center*|data centre*|datacenter*|
            object storage|hyperscaler*|infrastructure as code|devops|sre|outage*|container|containers|microservice*|
            observability|multi-cloud|postmortem|service disruption|load balancer*|cdn|edge computing|virtual machine*|
            molnregion*|moln|rechenzentr*|wolke|oblak*|oblačn*|podatkovn* center*|nuage|nube|nuvem|云计算|云服务|クラウド|
            데이터센터|클라우드|облачн*|облако|дата-центр*""",
        WEAK: "region*|downtime|offline|uptime|cluster*|deployment*|hosting|scaling|storage class*|iac|pods|pod-level|orchestrat*",
    },
    "hardware": {
        PRODUCT: """nvidia|geforce|rtx|amd|ryzen|epyc|radeon|instinct|intel|xeon|core ultra|nova lake|tsmc|asml|qualcomm|
            snapdragon|raspberry pi|arduino|risc-v|riscv|arm|sk hynix|sk하이닉스|micron|kioxia|hbm*|ddr*|lpddr*|pcie|
            apple silicon|m4|m5|m6|macbook*|iphone*|ipad*|pixel|galaxy|framework laptop*|steam deck|playstation|ps5|ps6|xbox|
            nintendo switch|switch 2|vision pro|quest|rubin|blackwell|fujitsu|富士通|monaka|mediatek|huawei|xiaomi|usb-c|usb4|
            thunderbolt|wi-fi|ssd|nvme|oled|cerebras|groq|tenstorrent|samsung|삼성전자|rapidus|globalfoundries""",
        STRONG: """chip|chips|chipmaker*|semiconductor*|processor*|cpu*|gpu*|npu*|soc|accelerator*|motherboard*|mainboard*|
            laptop*|smartphone*|phone|phones|tablet*|wearable*|smartwatch*|headset*|monitor|monitors|battery|batteries|
            wafer*|lithography|nanometer*|nanometre*|2nm|3nm|1.6nm|foundry|fab|fabs|memory chip*|dram|nand|sensor*|camera*|
            console|consoles|hardware|volume production|mass production|power delivery|socket|drone*|halbleiter*|prozessor*|
            čip*|polprevodnik*|procesor*|puce*|processeur*|chip da|芯片|半导体|处理器|半導体|量産|プロセッサ|メモリ|반도체|양산|
            메모리|процессор*|видеокарт*|чип*|микросхем*""",
        WEAK: "device*|cores|gadget*|board|boards|review|ships|shipping|watt*|architecture|silicon|mac|desktop*|screen*|keyboard*",
    },
    "software": {
        PRODUCT: """python|cpython|rust|golang|go 1.*|node.js|nodejs|deno|bun|typescript|javascript|java|jdk|openjdk|kotlin|
            swift|.net|asp.net|c#|f#|c++|c++23|c++26|php|laravel|ruby|ruby on rails|rails|perl|zig|haskell|elixir|erlang|scala|
            clojure|julia|ocaml|dart|flutter|react|react native|vue|vue.js|angular|svelte|next.js|django|flask|fastapi|spring
            boot|postgresql|postgres|mysql|mariadb|sqlite|mongodb|redis|valkey|linux|linux kernel|ubuntu|debian|fedora|red hat|
            rhel|arch linux|nixos|freebsd|windows 11|windows 12|macos|android|ios|git|github|gitlab|vs code|visual studio|
            jetbrains|intellij|neovim|vim|emacs|llvm|clang|gcc|webassembly|wasm|npm|pip|cargo|gradle|maven|cmake|firefox|
            chromium|safari|webkit|qt|gtk|gnome|kde|wayland|systemd|discord|blender|godot|unity|unreal engine|openjs|
            libreoffice|wordpress|drupal""",
        STRONG: """programming language*|compiler*|standard library|open source|open-source|free software|developer tool*|sdk|
            framework|ide|code editor*|kernel|operating system*|api|apis|library|libraries|type checker|garbage collector|
            long-term support|lts|release candidate|release notes|changelog|deprecat*|refactor*|runtime|web framework*|
            browser|browsers|database*|desktop environment|package manager*|bootloader*|free-threaded|reflection|
            programmiersprache*|quelloffen*|betriebssystem*|programsk*|odprtokodn*|logiciel*|software libre|código abierto|
            开源|编程语言|操作系统|オープンソース|プログラミング|오픈소스|открыт* код*|язык* программирования""",
        WEAK: "released|release|version|announcing|update|feature*|developer*|code|software|app|apps|syntax|stable|is released",
    },
    "science": {
        PRODUCT: """nasa|esa|cern|lhc|webb|jwst|hubble|voyager|spacex|starship|blue origin|iss|crispr|iter|wendelstein|nif|
            ligo|noaa|nobel prize|arxiv|mars|perseverance|artemis|euclid|alma|fiocruz|jaxa|isro|chandrayaan|fermilab|desy""",
        STRONG: """scientist*|researchers|physicist*|physics|astronom*|astrophysic*|exoplanet*|planet|planets|telescope*|galaxy
            cluster*|black hole*|asteroid*|comet|comets|spacecraft|rocket*|orbit|orbital|moon|lunar|quantum|qubit*|fusion|plasma|
            laser|collider|particle|particles|biolog*|biosignature*|genome*|gene|genes|genetic*|dna|rna|protein*|vaccine*|
            vaccin*|clinical trial*|phase 3|drug|drugs|cancer|disease*|virus|cholesterol|dengue|malaria|climate|glacier*|
            antarctic*|arctic|sea level*|emission*|fossil*|dinosaur*|species|neuroscience|brain|chemist*|chemistry|material
            science|superconduct*|mathematic*|theorem|light-day|light-year*|megajoule*|earthquake*|volcan*|wissenschaft*|forscher*|
            impfstoff*|klima*|weltraum*|znanstven*|raziskoval*|cepiv*|vesolj*|podnebn*|vacina*|vacuna*|chercheur*|científic*|
            cientist*|科学家|研究人员|疫苗|望远镜|研究者|宇宙|ワクチン|과학자|연구진|백신|ученые|учёные|вакцин*|космическ*""",
        WEAK: "study|research|experiment*|discover*|record|trial|university|space|energy|ice|earth|health|patients|journal",
    },
}

# What feeds write in <category>, where it is not a topic's own name or slug.
_CATEGORIES = {
    "data-ai": "artificial intelligence|machine learning|ai|ml|data|data science|big data|analytics|ai & ml|ai/ml|llm|llms|genai",
    "security": "infosec|cybersecurity|cyber security|privacy|vulnerabilities|malware|cryptography",
    "cloud": "cloud computing|devops|infrastructure|kubernetes|containers|serverless|sre|networking|aws|azure",
    "hardware": "gadgets|devices|chips|semiconductors|gpus|cpus|laptops|phones|mobile|smartphones|gaming hardware|robotics",
    "software": "programming|development|developers|dev|open source|linux|programming languages|web development|webdev|coding",
    "science": "space|physics|biology|health|climate|environment|astronomy|research|medicine|energy",
}


def slug(name: str) -> str:
    """A topic's name as its slug: ``Data & AI`` -> ``data-ai``, ``C++`` -> ``cpp``; letters of every script stay.

    ``""`` if no letter or digit is left.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = re.sub(r"(?<=\w)\+\+", "pp", re.sub(r"(?<=\w)#", "sharp", folded))
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else "-" for c in folded)
    return re.sub(r"-+", "-", kept).strip("-")


def assign(title: str, dek: str, tags: Sequence[str], text: str) -> list[tuple[str, float]]:
    """The topics that fit, as (slug, score), best first; empty where nothing tells.

    ``text`` is read only where title, dek and tags say nothing: it lowers accuracy elsewhere.
    """
    scores = dict.fromkeys(TOPICS, 0.0)
    for tag in list(tags)[:20]:
        if (known := category(tag)) is not None:
            scores[known] += PRODUCT
    for part, times in ((title[:500], TITLE), (dek[:1000], DEK), (" ; ".join(tags)[:500], TAG)):
        for topic, weight in _capped(_found(part)):
            scores[topic] += times * weight
    if not any(scores.values()):
        for topic, weight in _found(text[:4000]):
            scores[topic] += weight
    order = list(TOPICS)
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], order.index(pair[0])))
    return [(topic, score) for topic, score in ranked if score > 0]


def category(tag: str) -> str | None:
    """The topic that a feed's category names, or None."""
    wanted = slug(tag)
    if wanted in TOPICS:
        return wanted
    return _categories().get(wanted)


def _capped(found: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """At most two words of a weight for each topic: a list of product names is no stronger evidence than two."""
    seen: Counter[tuple[str, int]] = Counter()
    for pair in found:
        seen[pair] += 1
        if seen[pair] <= 2:
            yield pair


def _found(part: str) -> Iterator[tuple[str, int]]:
    """Each distinct word of a topic that stands in the text, once."""
    folded = unicodedata.normalize("NFKC", part).casefold().replace("’", "'")
    for topic, weight, pattern in _patterns():
        for _ in {found[0] for found in pattern.finditer(folded)}:
            yield topic, weight


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, int, re.Pattern[str]], ...]:
    return tuple(
        (topic, weight, _pattern(re.split(r"\s*\|\s*", words.strip())))
        for topic, weights in _WORDS.items()
        for weight, words in weights.items()
    )


@lru_cache(maxsize=1)
def _categories() -> dict[str, str]:
    return {slug(name): topic for topic, names in _CATEGORIES.items() for name in names.split("|")}


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    alternatives = []
    for word in sorted(words, key=len, reverse=True):
        pieces = [re.escape(piece).replace(r"\*", r"[\w.-]*") for piece in " ".join(word.casefold().split()).split(" ")]
        # Scripts without spaces have no word edges.
        spaced = word[0].isascii() or not re.match(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", word[0])
        body = r"[\s-]+".join(pieces)
        alternatives.append(rf"(?<![\w.+#]){body}(?![\w+#])" if spaced else body)
    return re.compile("|".join(alternatives))
