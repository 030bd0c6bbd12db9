"""How much each thing that ``boundary.features`` sees speaks for a heading's end.

A conditional logit model, fitted offline by maximum likelihood (L2 1.0) on about 3,600 headings and 1,700 titles of
openly published documentation and news in 18 languages, and, at thirteen times their weight, on the briefs of
``tests/data/documents``. ``t:`` marks the weights for titles, ``T`` and ``S`` those for a document in Title Case or
Sentence case. Weights under 0.03 were left out. ``block`` (a list or a fence opens the text), ``article`` (one ends the
heading) and ``repeat_lower`` (a program's name opens both) are too rare to be fitted and were set by hand.
"""

from __future__ import annotations

_FITTED = """
Scap_in=-0.86 Scap_run_in=-0.66 Scommon=0.21 Scommon_in=0.19 Sfrom_cap=0.13 Sfrom_caps=0.65 Sfrom_cjk=-0.29
Sfrom_first_cap=0.91 Sfrom_first_caps=0.14 Sfrom_first_cjk=0.19 Sfrom_first_ident=0.14 Sfrom_first_mixed=-0.41
Sfrom_first_number=-0.1 Sfrom_ident=0.1 Sfrom_lower=1.08 Sfrom_mark=-0.34 Sfrom_mixed=-0.15 Sfrom_number=-0.89
Sfrom_other=0.27 Slink_name=0.36 Slower_in=-0.38 Slower_run=0.09 Sname=-0.19 Sopen_cap=1.22 Sopen_caps=0.19
Sopen_cjk=1.08 Sopen_ident=0.35 Sopen_lower=-2.37 Sopen_mark=-0.27 Sopen_mixed=-0.03 Sopen_number=-0.7
Sopen_other=0.37 Spreposition=1.33 Spreposition_in=-1.16 Srun_0=1.28 Srun_1=0.5 Srun_2=-0.49 Srun_more=0.1
Ssize_1=0.11 Ssize_12=-0.06 Ssize_14=-0.3 Ssize_17=-0.55 Ssize_2=0.58 Ssize_3=0.1 Ssize_4=-0.16 Ssize_6=-0.14
Ssize_7=0.13 Ssize_8=-0.4 Ssize_9=0.37 Ssize_more=-0.43 Sstarter=1.78 Sstarter_in=-1.24 Sthen_lower=-0.47
Sverb_at_1=0.18 Sverb_at_4=0.22 Sverb_at_more=-0.54 Sverblike=-0.19 Tcap_in=0.38 Tcap_run_in=0.13 Tcommon=0.06
Tcommon_in=0.31 Tfrom_cap=0.81 Tfrom_caps=-0.26 Tfrom_cjk=0.16 Tfrom_first_cap=0.37 Tfrom_first_caps=-0.11
Tfrom_first_cjk=0.07 Tfrom_first_lower=-0.05 Tfrom_first_mark=-0.06 Tfrom_first_mixed=0.32
Tfrom_first_number=-0.1 Tfrom_first_other=-0.05 Tfrom_ident=0.09 Tfrom_lower=-0.17 Tfrom_mark=-0.26
Tfrom_mixed=0.37 Tfrom_number=-0.18 Tfrom_other=-0.22 Tlink_name=0.1 Tlower_in=-1.58 Tlower_run=0.22 Tname=0.77
Topen_cap=0.28 Topen_caps=-0.29 Topen_cjk=0.68 Topen_ident=0.37 Topen_lower=-1.9 Topen_mark=0.48
Topen_mixed=0.71 Topen_number=-0.9 Topen_other=0.31 Tpreposition=1.23 Tpreposition_in=0.39 Tprior=-0.4
Trun_0=0.94 Trun_1=0.36 Trun_2=-0.09 Trun_more=-0.5 Tsize_1=-0.68 Tsize_10=-0.24 Tsize_12=0.32 Tsize_14=-0.09
Tsize_17=0.04 Tsize_2=0.55 Tsize_3=0.53 Tsize_4=0.97 Tsize_5=0.36 Tsize_6=-0.58 Tsize_7=-0.43 Tsize_8=-0.34
Tsize_9=-0.28 Tsize_more=-0.11 Tstarter=2.59 Tstarter_in=-0.9 Tthen_lower=0.3 Tverb_at_1=0.25 Tverb_at_2=0.3
Tverb_at_4=0.03 Tverb_at_8=-0.54 Tverb_at_more=-0.29 Tverblike=0.72 article=-3 back=1.28 block=4 cjk_cjk=2.44
cjk_dangling=-1.25 cjk_latin=0.33 cjk_mark_in=-1.19 cjk_particle_in=0.1 cjk_sentence=-0.1 cjk_size_14=0.61
cjk_size_2=-0.5 cjk_size_20=0.51 cjk_size_30=0.3 cjk_size_4=1.2 cjk_size_8=0.83 cjk_size_more=-1.26
cjk_word=-0.18 cuts_pair=-1.96 dangling=-3.28 echo=1.41 empty=1.27 empty_stop=-0.83 gone=-0.17
hangul_dangling=-2.29 hangul_opens=-1.91 hangul_topic=0.64 inner_abbr=-0.22 inner_ask=-1.21 inner_colon=0.42
inner_comma=-1.57 inner_dash=0.67 inner_stop=-0.36 keeps_pair=0.07 latin_cjk=-0.68 latin_latin=-0.78
lower_starts=0.66 name_number=0.41 opens_link=-1.17 opens_mark=-0.92 opens_pair=0.37 opens_particle=-0.95
opens_verb=-0.7 other_link=-0.66 other_size_1=0.57 other_size_10=-0.23 other_size_12=-0.36 other_size_14=-0.28
other_size_17=-0.19 other_size_2=1.57 other_size_3=0.2 other_size_4=-0.14 other_size_5=-0.24 other_size_6=-0.24
other_size_7=-0.25 other_size_9=-0.32 other_size_more=-0.22 other_starter=0.45 other_starter_in=-0.81
other_verb=-0.03 question=-1.53 repeat_first=1.22 repeat_lower=3 repeat_second=0.04 repeat_two=0.17
sentence_1=-1.04 sentence_3=-0.55 sentence_5=0.25 sentence_more=0.93 t:Scap_in=-0.59 t:Scap_run_in=-0.29
t:Scommon=0.83 t:Scommon_in=-0.39 t:Sfrom_cap=0.42 t:Sfrom_caps=-0.06 t:Sfrom_cjk=0.07 t:Sfrom_first_cap=-0.99
t:Sfrom_first_caps=-0.03 t:Sfrom_first_cjk=-0.15 t:Sfrom_first_ident=0.11 t:Sfrom_first_mixed=0.22
t:Sfrom_first_other=0.1 t:Sfrom_ident=0.39 t:Sfrom_lower=0.84 t:Sfrom_mark=-0.22 t:Sfrom_mixed=-0.38
t:Sfrom_number=1.23 t:Sfrom_other=0.04 t:Slink_name=0.73 t:Slower_run=0.69 t:Sname=0.16 t:Sopen_cap=1.31
t:Sopen_caps=0.69 t:Sopen_cjk=0.63 t:Sopen_ident=-0.14 t:Sopen_lower=-2.42 t:Sopen_mark=-0.27 t:Sopen_mixed=-0.4
t:Sopen_number=-0.52 t:Spreposition=0.73 t:Spreposition_in=-0.63 t:Srun_0=1.17 t:Srun_1=0.35 t:Srun_2=0.43
t:Srun_more=-0.36 t:Ssize_1=-1.02 t:Ssize_10=1.21 t:Ssize_12=0.31 t:Ssize_14=-0.58 t:Ssize_17=-0.68
t:Ssize_2=-1.61 t:Ssize_3=-0.95 t:Ssize_4=-0.45 t:Ssize_5=0.38 t:Ssize_6=0.41 t:Ssize_7=1 t:Ssize_8=1.11
t:Ssize_9=0.93 t:Ssize_more=-0.62 t:Sstarter=2.06 t:Sstarter_in=-0.93 t:Sthen_lower=-0.69 t:Sverb_at_1=0.58
t:Sverb_at_4=-0.64 t:Sverb_at_8=-0.25 t:Sverb_at_more=-0.82 t:Sverblike=0.05 t:Tcap_in=0.68 t:Tcap_run_in=0.82
t:Tcommon=0.13 t:Tcommon_in=1.01 t:Tfrom_cap=0.81 t:Tfrom_caps=0.15 t:Tfrom_cjk=0.19 t:Tfrom_first_caps=-0.07
t:Tfrom_first_cjk=-0.34 t:Tfrom_first_ident=0.03 t:Tfrom_first_mixed=-0.04 t:Tfrom_ident=-0.14
t:Tfrom_lower=-0.38 t:Tfrom_mark=-0.33 t:Tfrom_mixed=0.27 t:Tfrom_number=1.14 t:Tfrom_other=0.08
t:Tlink_name=-0.17 t:Tlower_in=-2.11 t:Tlower_run=0.16 t:Tname=-0.52 t:Topen_cap=0.83 t:Topen_caps=0.56
t:Topen_cjk=1.11 t:Topen_ident=0.09 t:Topen_lower=-2.14 t:Topen_mark=-0.23 t:Topen_mixed=-0.05
t:Topen_number=-0.3 t:Topen_other=-0.06 t:Tpreposition=0.88 t:Tpreposition_in=0.14 t:Trun_0=0.91 t:Trun_1=0.12
t:Trun_2=0.24 t:Trun_more=0.07 t:Tsize_1=-0.98 t:Tsize_10=0.12 t:Tsize_12=-0.19 t:Tsize_14=-0.69
t:Tsize_17=-0.18 t:Tsize_2=-1.14 t:Tsize_3=-0.21 t:Tsize_4=0.53 t:Tsize_5=0.76 t:Tsize_6=0.47 t:Tsize_7=0.87
t:Tsize_8=0.9 t:Tsize_9=0.42 t:Tsize_more=-0.12 t:Tstarter=2.25 t:Tstarter_in=-0.3 t:Tthen_lower=-0.07
t:Tverb_at_1=-0.08 t:Tverb_at_2=0.12 t:Tverb_at_4=0.03 t:Tverb_at_8=0.07 t:Tverb_at_more=-0.34 t:Tverblike=0.1
t:article=-3 t:back=1.67 t:cjk_cjk=1.5 t:cjk_dangling=-0.84 t:cjk_latin=-0.62 t:cjk_mark_in=-0.3
t:cjk_particle_in=0.31 t:cjk_sentence=0.3 t:cjk_size_14=-0.05 t:cjk_size_2=-0.42 t:cjk_size_20=0.92
t:cjk_size_30=0.53 t:cjk_size_4=-0.05 t:cjk_size_8=-0.32 t:cjk_size_more=-1.48 t:cjk_word=-0.07
t:cuts_pair=-2.62 t:dangling=-3 t:echo=0.47 t:empty=0.49 t:empty_stop=-0.99 t:gone=-0.35 t:hangul_dangling=-1.68
t:hangul_opens=-0.96 t:hangul_topic=0.15 t:inner_abbr=-0.42 t:inner_ask=-0.61 t:inner_colon=-0.63
t:inner_comma=-0.33 t:inner_dash=0.09 t:keeps_pair=0.21 t:latin_cjk=0.24 t:latin_latin=-0.14
t:lower_starts=-0.12 t:name_number=-0.61 t:opens_link=-0.81 t:opens_mark=-1.01 t:opens_pair=0.73
t:opens_particle=-0.6 t:opens_verb=-0.21 t:other_link=-0.4 t:other_size_1=-0.3 t:other_size_10=-0.09
t:other_size_12=-0.23 t:other_size_14=-0.11 t:other_size_17=-0.09 t:other_size_2=-0.19 t:other_size_3=-0.1
t:other_size_4=-0.26 t:other_size_5=-0.31 t:other_size_6=1.57 t:other_size_7=-0.28 t:other_size_8=0.62
t:other_size_9=-0.2 t:other_starter=-0.3 t:other_starter_in=-0.06 t:question=-0.14 t:repeat_lower=-0.21
t:repeat_open=-0.29 t:repeat_second=0.14 t:repeat_two=0.28 t:sentence_1=-1.15 t:sentence_3=-0.52
t:sentence_5=-0.21 t:sentence_more=0.53 t:tail_abbr=-0.34 t:tail_ask=0.49 t:tail_colon=-2.04 t:tail_comma=-1.61
t:tail_dash=-0.84 t:tail_stop=-2.35 t:unbalanced=-0.55 tail_abbr=-0.23 tail_ask=1.3 tail_colon=-1
tail_comma=-2.11 tail_dash=-0.67 tail_stop=-2.22 unbalanced=-0.84 unsayable=2.07 verb_in=-0.83
"""

WEIGHTS = {name: float(value) for name, value in (pair.split("=") for pair in _FITTED.split())}
