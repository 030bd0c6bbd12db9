"""How much each thing that ``boundary.features`` sees speaks for a heading's end.

A conditional logit model, fitted offline by maximum likelihood (L2 1.0) on about 5,000 headings and 1,700 titles of
openly published documentation and news in 18 languages, and, at seven times their weight, on the project's own sample
briefs. ``t:`` marks the weights for titles, ``T`` and ``S`` those for a document in Title Case or Sentence case. Weights
under 0.1 were left out.
"""

from __future__ import annotations

WEIGHTS: dict[str, float] = {
    name: float(value)
    for name, _, value in (
        pair.partition("=")
        for pair in """
        Scap_in=-0.92 Scap_run_in=-0.44 Scommon=0.31 Scommon_in=0.3 Sfrom_cap=0.45 Sfrom_caps=0.97
        Sfrom_cjk=-0.34 Sfrom_first_cap=1.37 Sfrom_first_caps=0.57 Sfrom_first_cjk=0.25 Sfrom_first_ident=0.42
        Sfrom_first_mixed=-0.4 Sfrom_first_number=-0.2 Sfrom_lower=0.82 Sfrom_mark=-0.84 Sfrom_mixed=0.17
        Sfrom_number=-0.97 Sfrom_other=0.63 Slower_in=-0.45 Sopen_cap=1.6 Sopen_caps=0.79 Sopen_cjk=1.05
        Sopen_lower=-3.2 Sopen_mark=-0.63 Sopen_mixed=0.43 Sopen_number=-1.86 Sopen_other=0.3 Sstarter=2.12
        Sstarter_in=-1.69 Sthen_lower=-0.32 Tcap_in=0.18 Tcap_run_in=0.29 Tcommon=0.25 Tcommon_in=0.35
        Tfrom_cap=1.09 Tfrom_caps=0.55 Tfrom_cjk=0.17 Tfrom_first_cap=0.24 Tfrom_first_caps=-0.16
        Tfrom_first_cjk=0.13 Tfrom_first_mark=-0.13 Tfrom_first_mixed=0.17 Tfrom_first_number=-0.25
        Tfrom_ident=0.34 Tfrom_lower=-0.3 Tfrom_mark=-0.37 Tfrom_mixed=0.97 Tfrom_number=0.13 Tfrom_other=-0.42
        Tlower_in=-1.95 Tlower_run=0.13 Tname=1.01 Topen_cap=0.62 Topen_cjk=0.79 Topen_ident=0.76
        Topen_lower=-2.36 Topen_mark=-0.27 Topen_mixed=1.54 Topen_number=-1.1 Topen_other=0.21 Tstarter=2.84
        Tstarter_in=-0.27 Tthen_lower=0.62 back=1.45 block=-0.46 cjk_cjk=2.63 cjk_dangling=-1.61 cjk_latin=0.74
        cjk_mark_in=-1.52 cjk_sentence=-0.14 cjk_size_14=0.71 cjk_size_2=-0.37 cjk_size_20=0.6 cjk_size_30=0.39
        cjk_size_4=1.46 cjk_size_8=1.02 cjk_size_more=-1.35 cjk_word=-0.21 cuts_pair=-2.08 dangling=-3.76
        empty=1.36 empty_stop=-1.06 hangul_dangling=-2.72 hangul_opens=-2.48 hangul_topic=0.68 inner_abbr=-0.3
        inner_ask=-1.63 inner_colon=0.44 inner_comma=-1.99 inner_dash=0.93 inner_stop=-1.48 latin_cjk=-0.79
        latin_latin=-0.65 lower_starts=0.13 name_number=0.89 opens_link=-1.69 opens_mark=-1.69 opens_pair=0.25
        opens_particle=-1.26 opens_verb=-0.93 other_link=-1.13 other_size_1=1.05 other_size_10=-0.39
        other_size_12=-0.67 other_size_14=-0.52 other_size_17=-0.34 other_size_2=1.96 other_size_3=0.4
        other_size_5=-0.25 other_size_6=-0.32 other_size_7=-0.36 other_size_9=-0.53 other_size_more=-0.48
        other_starter=0.53 other_starter_in=-1 repeat_first=1.38 repeat_two=0.11 sentence_1=-1.29
        sentence_3=-0.76 sentence_more=0.64 size_1=-0.1 size_10=-0.21 size_12=-0.11 size_14=-0.6 size_17=-0.78
        size_2=0.79 size_3=0.17 size_4=0.39 size_5=0.12 size_6=-0.44 size_7=-0.12 size_8=-0.51 size_9=0.32
        size_more=-0.88 t:Scap_in=-0.76 t:Scap_run_in=-0.22 t:Scommon=0.85 t:Scommon_in=-0.46 t:Sfrom_cap=0.67
        t:Sfrom_cjk=0.39 t:Sfrom_first_cap=-1 t:Sfrom_first_ident=0.36 t:Sfrom_first_mixed=0.62
        t:Sfrom_first_other=0.22 t:Sfrom_ident=0.39 t:Sfrom_lower=0.56 t:Sfrom_mark=-0.4 t:Sfrom_mixed=-0.16
        t:Sfrom_number=1.23 t:Sfrom_other=0.24 t:Slower_run=1.09 t:Sopen_cap=1.77 t:Sopen_caps=1.21
        t:Sopen_cjk=0.69 t:Sopen_ident=-0.34 t:Sopen_lower=-3.46 t:Sopen_mark=-0.55 t:Sopen_number=-0.96
        t:Sopen_other=-0.11 t:Sstarter=1.99 t:Sstarter_in=-1.01 t:Sthen_lower=-0.55 t:Tcap_in=0.48
        t:Tcap_run_in=0.72 t:Tcommon=0.48 t:Tcommon_in=1.05 t:Tfrom_cap=1.09 t:Tfrom_caps=0.38 t:Tfrom_cjk=0.44
        t:Tfrom_first_cjk=-0.54 t:Tfrom_ident=-0.26 t:Tfrom_mark=-0.33 t:Tfrom_mixed=0.53 t:Tfrom_number=1.74
        t:Tfrom_other=0.1 t:Tlower_in=-2.52 t:Tname=-0.64 t:Topen_cap=1.46 t:Topen_caps=1.06 t:Topen_cjk=1.32
        t:Topen_ident=0.1 t:Topen_lower=-2.54 t:Topen_mark=-0.31 t:Topen_mixed=0.46 t:Topen_number=-0.35
        t:Topen_other=-0.16 t:Tstarter=2.3 t:Tthen_lower=0.23 t:back=1.88 t:block=-0.22 t:cjk_cjk=1.63
        t:cjk_dangling=-1.18 t:cjk_latin=-0.5 t:cjk_mark_in=-0.37 t:cjk_particle_in=0.26 t:cjk_sentence=0.38
        t:cjk_size_14=-0.32 t:cjk_size_2=-0.67 t:cjk_size_20=0.88 t:cjk_size_30=0.42 t:cjk_size_4=-0.15
        t:cjk_size_8=-0.58 t:cjk_size_more=-1.85 t:cuts_pair=-3.29 t:dangling=-3.71 t:empty=0.66
        t:empty_stop=-1.42 t:gone=-0.43 t:hangul_dangling=-2.21 t:hangul_opens=-1.31 t:hangul_topic=0.24
        t:inner_abbr=-0.72 t:inner_ask=-0.67 t:inner_colon=-0.8 t:inner_comma=-0.37 t:inner_dash=0.13
        t:inner_stop=-1.04 t:keeps_pair=0.2 t:latin_cjk=0.38 t:lower_starts=-0.17 t:name_number=-0.8
        t:opens_link=-0.98 t:opens_mark=-1.1 t:opens_pair=0.84 t:opens_particle=-0.94 t:opens_verb=-0.22
        t:other_link=-0.58 t:other_size_1=-0.45 t:other_size_10=-0.12 t:other_size_12=-0.31
        t:other_size_14=-0.19 t:other_size_17=-0.11 t:other_size_2=-0.25 t:other_size_4=-0.3
        t:other_size_5=-0.46 t:other_size_6=2.09 t:other_size_7=-0.39 t:other_size_8=0.95 t:other_size_9=-0.26
        t:other_starter=-0.46 t:other_starter_in=-0.17 t:repeat_open=-0.3 t:repeat_second=0.1 t:repeat_two=0.14
        t:sentence_1=-1.29 t:sentence_3=-0.31 t:sentence_5=0.13 t:sentence_more=0.82 t:size_1=-1.6
        t:size_10=1.59 t:size_12=0.83 t:size_14=-0.72 t:size_17=-0.65 t:size_2=-1.94 t:size_3=-0.85
        t:size_4=0.17 t:size_5=0.91 t:size_6=1 t:size_7=1.54 t:size_8=1.51 t:size_9=1.41 t:size_more=-0.94
        t:tail_abbr=-0.73 t:tail_ask=1.1 t:tail_colon=-2.83 t:tail_comma=-2.15 t:tail_dash=-1.2
        t:tail_stop=-2.62 t:unbalanced=-0.81 t:verb_at_1=0.37 t:verb_at_2=0.15 t:verb_at_4=-0.41
        t:verb_at_8=-0.1 t:verb_at_more=-0.68 t:verb_in=-0.22 t:verblike=0.3 tail_abbr=-0.42 tail_ask=1.46
        tail_colon=-1.6 tail_comma=-2.47 tail_dash=-0.95 tail_stop=-2.73 unbalanced=-1.23 unsayable=1.89
        verb_at_1=0.1 verb_at_2=0.15 verb_at_8=-0.65 verb_at_more=-0.91 verb_in=-0.58
        """.split()
    )
}
