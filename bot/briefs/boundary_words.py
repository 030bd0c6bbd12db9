"""Small words of the languages that are written with spaces, in lower case, by what they tell of a place in a text."""

from __future__ import annotations

_STARTERS = """
the a an this these those that it its we you they he she our your their there here each every all some any both most
many several no none one two three four five six seven eight nine ten new not if when while since after before during
once until although though because as in on at by with from for to what how why who where which according instead also
more additionally furthermore meanwhile however currently today now under only unlike despite between among over about
through without within der die das ein eine einer dies diese dieser dieses es wir sie er ihr man alle jede jeder mit
nach bei im am vom zum zur auf seit laut wenn während um aus neu neue nun jetzt künftig auch nicht kein keine unter
durch le la les l' un une des ce cet cette ces il elle ils elles nous vous tous toutes chaque avec après selon depuis
dans en pour sur si lorsque pendant c'est plus aucun aucune désormais el los las lo unos unas este esta estos estas
esto ese esa ello nosotros ellos su sus cada todos todas con según desde para por sobre cuando mientras tras aunque
ahora además o os uma uns umas estes isto isso esse essa eles elas nós seu sua com segundo em na nos nas quando
enquanto após se embora agora não gli i uno questo questa questi queste esso noi loro ogni tutti dopo secondo dal per
nel nella de het een dit deze wij ze zij hun elke met volgens sinds als terwijl bij op den det ett denna detta dessa
vi han hon alla med efter enligt från när om på för et denne dette disse ved ta te ci się w z po od dla przez jeśli
gdy nowy nowa nowe wszystkie każdy według tento tato toto ve v s pro podle pokud když nový nová nové в во на с со по
для от из при после как если когда это этот эта эти он она оно они мы вы все каждый новый новая новые теперь также не
согласно у за до к о об через з зі від після якщо коли це цей ця ці він вона вони ми ви всі нова новий нові тепер bir
bu şu yeni her tüm için ile sonra göre eğer artık acest această aceste pentru în cu după dacă când toate ini itu yang
sebuah kami anda untuk dengan pada dalam setelah jika ketika semua ο η το οι τα ένα μια αυτό αυτή αυτός στο στη για με
από αν όταν tämä nämä ne uusi kun jos myös ja في على من إلى عن مع بعد قبل هذا هذه ذلك تلك هو هي هم نحن لا لم لن قد إذا
عند يمكن تم كما وفق در این آن با از به برای پس اگر هر ما شما של את הוא היא הם אנחנו זה זו אלה על עם אחרי לפי כאשר אם
כל यह ये इस इन वह एक हम आप अब जब यदि के
"""

_PREPOSITIONS = """
as in on at by with from for to into after before during since until about over under between among through without
within against across behind beyond despite according what how why who where which when while if not new no more one
two three four five six seven eight nine ten all every each your our its now today here there is are can mit nach bei
im am vom zum zur auf seit laut um aus unter durch avec après depuis dans en pour sur selon pendant con según desde
para por sobre tras com segundo após em na nos nas dopo dal met volgens sinds op bij med efter från på för etter w po
od dla przez v s pro podle в на с по для от из при после за до к о від
"""

_LINKS = """
a an the of in on at by for to with from and or nor but as via vs vs. versus per into onto over under between through
against about within without is are than that your our its their der die das den dem des ein eine einen einem einer
und oder von vom zu zum zur im am auf mit für bei nach aus über le la les un une de du et ou à au aux en dans pour par
sur avec sans d' l' vers chez que votre vos el los las una unos y o e del al con por para sin sobre entre tu su os um
uma do da dos em no na nos nas com sem ao seu sua il lo i gli uno di della dei delle dal nel nella tra fra che het een
van op met voor bij naar uit aan te och eller av på med för till från ett det og til ved oraz lub w we z ze od dla po
przez v ve s pro k ke nebo и или в во на с со к ко у о об от до из за по для при без под над між та і й або з зі від
veya ile için bir și sau în cu pe din pentru dan atau dari untuk dengan pada yang και ή του της των το τη στο στη με
για από ja tai في على من إلى عن مع و أو بين در از به با برای یا که של את על עם או ב ו के का की में से और या को पर
"""

_VERBS = """
is are was were be been has have had do does did will would can could may might must should shall isn't aren't doesn't
don't won't can't now also ist sind war waren wird werden wurde wurden hat haben hatte kann können soll sollen muss
müssen darf bietet gibt est sont était a ont avait sera seront peut peuvent doit doivent permet fait n'est es son era
está están fue fueron ha han había será serán puede pueden debe permite se é são estão foi foram tem têm há serão pode
podem deve è sono hanno sarà può possono viene permette zijn heeft hebben wordt worden kan kunnen moet zal är var har
ska blir får måste er skal må vil jest są był była ma mają może mogą został została je jsou byl má může lze был была
было были есть может могут будет будут стал стала стало является позволяет є був була може можуть буде este sunt au
poate pot va vor adalah akan dapat telah bisa olabilir oldu edildi vardır είναι έχει μπορεί on ovat كان كانت است شد
می‌شود می‌تواند هستند يكون है हैं था गया सकते סיפקה יש היה
"""

# Words that open sentences: articles, pronouns, determiners, conjunctions, prepositions.
STARTERS = frozenset(_STARTERS.split())
# Of the words that open sentences, those that a heading in Title Case may hold too.
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
# Words that tie what stands before them to what follows: no heading ends with one.
LINKS = frozenset(_LINKS.split())
# Finite auxiliaries and their kin: they make a sentence of what stands around them.
VERBS = frozenset(_VERBS.split())
