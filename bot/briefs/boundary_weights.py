"""How much each thing that ``boundary.features`` sees speaks for a heading's end.

A conditional logit model, fitted offline by maximum likelihood (L2 1.0) on about 5,000 headings and 1,700 titles of
openly published documentation and news in 18 languages, and, at seven times their weight, on the project's own sample
briefs. ``t:`` marks the weights for titles, ``T`` and ``S`` those for a document in Title Case or Sentence case. Weights
under 0.1 were left out. ``block`` (a list or a fence opens the text) was set by hand.
"""

from __future__ import annotations

_FITTED = """
Scap_in=-0.79 Scap_run_in=-0.64 Scommon=0.25 Scommon_in=0.23 Sfrom_caps=0.59 Sfrom_cjk=-0.32
Sfrom_first_cap=0.98 Sfrom_first_caps=0.15 Sfrom_first_cjk=0.2 Sfrom_first_ident=0.14 Sfrom_first_mixed=-0.39
Sfrom_first_number=-0.1 Sfrom_ident=0.15 Sfrom_lower=1.08 Sfrom_mark=-0.5 Sfrom_mixed=-0.15 Sfrom_number=-0.87
Sfrom_other=0.28 Slink_name=0.35 Slower_in=-0.44 Slower_run=-0.1 Sname=-0.21 Sopen_cap=1.19 Sopen_caps=0.15
Sopen_cjk=1.05 Sopen_ident=0.39 Sopen_lower=-2.46 Sopen_mark=-0.26 Sopen_number=-0.73 Sopen_other=0.37
Spreposition=1.33 Spreposition_in=-1.01 Srun_0=1.28 Srun_1=0.47 Srun_2=-0.51 Ssize_14=-0.3 Ssize_17=-0.53
Ssize_2=0.52 Ssize_4=-0.21 Ssize_6=-0.14 Ssize_8=-0.4 Ssize_9=0.37 Ssize_more=-0.41 Sstarter=1.88
Sstarter_in=-1.45 Sthen_lower=-0.53 Sverb_at_1=0.15 Sverb_at_4=0.18 Sverb_at_more=-0.62 Sverblike=-0.24
Tcap_in=0.41 Tcap_run_in=0.18 Tcommon=0.28 Tcommon_in=0.4 Tfrom_cap=0.74 Tfrom_caps=-0.32 Tfrom_cjk=0.11
Tfrom_first_cap=0.38 Tfrom_first_caps=-0.11 Tfrom_first_mixed=0.34 Tfrom_lower=-0.12 Tfrom_mark=-0.26
Tfrom_mixed=0.37 Tfrom_number=-0.13 Tfrom_other=-0.24 Tlower_in=-1.85 Tname=0.82 Topen_cap=0.24 Topen_caps=-0.37
Topen_cjk=0.64 Topen_ident=0.34 Topen_lower=-2.05 Topen_mark=0.29 Topen_mixed=0.79 Topen_number=-0.74
Topen_other=0.24 Tpreposition=1.34 Tpreposition_in=0.34 Tprior=-0.3 Trun_0=0.85 Trun_1=0.74 Trun_2=-0.36
Trun_more=-0.57 Tsize_1=-0.77 Tsize_10=-0.17 Tsize_14=-0.17 Tsize_2=0.66 Tsize_3=0.29 Tsize_4=0.86 Tsize_5=0.56
Tsize_6=-0.39 Tsize_7=-0.5 Tsize_8=-0.31 Tsize_9=-0.19 Tsize_more=-0.1 Tstarter=2.86 Tstarter_in=-1.34
Tthen_lower=0.29 Tverb_at_2=0.4 Tverb_at_8=-0.69 Tverb_at_more=-0.4 Tverblike=0.63 back=1.28 block=4
cjk_cjk=2.39 cjk_dangling=-1.24 cjk_latin=0.3 cjk_mark_in=-1.2 cjk_particle_in=0.1 cjk_size_14=0.57
cjk_size_2=-0.59 cjk_size_20=0.51 cjk_size_30=0.31 cjk_size_4=1.14 cjk_size_8=0.78 cjk_size_more=-1.29
cjk_word=-0.22 cuts_pair=-1.94 dangling=-3.33 echo=1.26 empty=1 empty_stop=-0.87 gone=-0.18
hangul_dangling=-2.29 hangul_opens=-1.94 hangul_topic=0.61 inner_abbr=-0.2 inner_ask=-1.12 inner_colon=0.47
inner_comma=-1.59 inner_dash=0.7 inner_stop=-1.03 latin_cjk=-0.69 latin_latin=-0.79 lower_starts=0.91
name_number=0.41 opens_link=-1.36 opens_mark=-0.98 opens_pair=0.33 opens_particle=-0.94 opens_verb=-0.61
other_link=-0.67 other_size_1=0.58 other_size_10=-0.2 other_size_12=-0.36 other_size_14=-0.29
other_size_17=-0.22 other_size_2=1.61 other_size_3=0.22 other_size_4=-0.15 other_size_5=-0.24 other_size_6=-0.23
other_size_7=-0.25 other_size_9=-0.31 other_size_more=-0.34 other_starter=0.42 other_starter_in=-0.93
repeat_first=1.55 repeat_second=0.12 repeat_two=0.16 sentence_1=-1.14 sentence_3=-0.68 sentence_more=0.73
t:Scap_in=-0.61 t:Scap_run_in=-0.33 t:Scommon=0.82 t:Scommon_in=-0.38 t:Sfrom_cap=0.4 t:Sfrom_first_cap=-0.96
t:Sfrom_first_cjk=-0.13 t:Sfrom_first_ident=0.13 t:Sfrom_first_mixed=0.25 t:Sfrom_ident=0.41 t:Sfrom_lower=0.88
t:Sfrom_mark=-0.25 t:Sfrom_mixed=-0.37 t:Sfrom_number=1.21 t:Slink_name=0.73 t:Slower_run=0.77 t:Sopen_cap=1.36
t:Sopen_caps=0.69 t:Sopen_cjk=0.68 t:Sopen_ident=-0.15 t:Sopen_lower=-2.34 t:Sopen_mark=-0.23
t:Sopen_mixed=-0.36 t:Sopen_number=-0.48 t:Spreposition=0.69 t:Spreposition_in=-0.68 t:Srun_0=1.24 t:Srun_1=0.4
t:Srun_2=0.43 t:Srun_more=-0.38 t:Ssize_1=-0.92 t:Ssize_10=1.21 t:Ssize_12=0.3 t:Ssize_14=-0.53 t:Ssize_17=-0.65
t:Ssize_2=-1.54 t:Ssize_3=-0.87 t:Ssize_4=-0.39 t:Ssize_5=0.42 t:Ssize_6=0.44 t:Ssize_7=1.03 t:Ssize_8=1.14
t:Ssize_9=0.94 t:Ssize_more=-0.75 t:Sstarter=2.09 t:Sstarter_in=-1.09 t:Sthen_lower=-0.71 t:Sverb_at_1=0.58
t:Sverb_at_4=-0.59 t:Sverb_at_8=-0.18 t:Sverb_at_more=-0.68 t:Tcap_in=0.68 t:Tcap_run_in=0.75 t:Tcommon=0.13
t:Tcommon_in=1.09 t:Tfrom_cap=0.72 t:Tfrom_caps=0.11 t:Tfrom_cjk=0.14 t:Tfrom_first_cjk=-0.32
t:Tfrom_ident=-0.11 t:Tfrom_lower=-0.36 t:Tfrom_mark=-0.32 t:Tfrom_mixed=0.25 t:Tfrom_number=1.29
t:Tlower_in=-2.05 t:Tlower_run=0.15 t:Tname=-0.53 t:Topen_cap=0.95 t:Topen_caps=0.48 t:Topen_cjk=1.11
t:Topen_lower=-2.03 t:Topen_mark=-0.21 t:Topen_number=-0.28 t:Tpreposition=0.68 t:Trun_0=0.93 t:Trun_1=0.17
t:Trun_2=0.27 t:Tsize_1=-0.91 t:Tsize_10=0.17 t:Tsize_12=-0.2 t:Tsize_14=-0.7 t:Tsize_17=-0.21 t:Tsize_2=-1.09
t:Tsize_3=-0.13 t:Tsize_4=0.55 t:Tsize_5=0.81 t:Tsize_6=0.59 t:Tsize_7=0.85 t:Tsize_8=0.86 t:Tsize_9=0.44
t:Tsize_more=-0.21 t:Tstarter=2.21 t:Tstarter_in=-0.65 t:Tverb_at_1=-0.16 t:Tverb_at_2=0.25
t:Tverb_at_more=-0.14 t:back=1.67 t:cjk_cjk=1.54 t:cjk_dangling=-0.85 t:cjk_latin=-0.62 t:cjk_mark_in=-0.32
t:cjk_particle_in=0.32 t:cjk_sentence=0.27 t:cjk_size_2=-0.34 t:cjk_size_20=0.93 t:cjk_size_30=0.53
t:cjk_size_8=-0.28 t:cjk_size_more=-1.43 t:cuts_pair=-2.59 t:dangling=-2.95 t:echo=0.5 t:empty=0.87
t:empty_stop=-1.11 t:gone=-0.32 t:hangul_dangling=-1.68 t:hangul_opens=-0.91 t:hangul_topic=0.19
t:inner_abbr=-0.38 t:inner_ask=-0.57 t:inner_colon=-0.64 t:inner_comma=-0.38 t:inner_dash=0.13 t:inner_stop=-0.7
t:keeps_pair=0.2 t:latin_cjk=0.25 t:latin_latin=-0.16 t:lower_starts=-0.13 t:name_number=-0.55
t:opens_link=-0.81 t:opens_mark=-1.06 t:opens_pair=0.73 t:opens_particle=-0.59 t:opens_verb=-0.2
t:other_link=-0.4 t:other_size_1=-0.27 t:other_size_12=-0.24 t:other_size_14=-0.11 t:other_size_2=-0.17
t:other_size_4=-0.25 t:other_size_5=-0.3 t:other_size_6=1.58 t:other_size_7=-0.28 t:other_size_8=0.6
t:other_size_9=-0.2 t:other_starter=-0.31 t:other_starter_in=-0.1 t:repeat_open=-0.28 t:repeat_second=0.11
t:repeat_two=0.24 t:sentence_1=-0.94 t:sentence_3=-0.41 t:sentence_5=-0.12 t:sentence_more=0.61
t:tail_abbr=-0.31 t:tail_ask=0.83 t:tail_colon=-2.02 t:tail_comma=-1.59 t:tail_dash=-0.85 t:tail_stop=-2.03
t:unbalanced=-0.56 tail_abbr=-0.2 tail_ask=1.42 tail_colon=-0.99 tail_comma=-2 tail_dash=-0.67 tail_stop=-2.19
unbalanced=-0.82 unsayable=2.03 verb_in=-0.71
"""

WEIGHTS = {name: float(value) for name, value in (pair.split("=") for pair in _FITTED.split())}
