/**
 * Texts in many languages that assert an answer, and texts that only mention, ask, suppose or retract one.
 *
 * `@` is the gold value, `#` another one, `[@]` a box around it.
 */
export interface Language {
  readonly asserted: ReadonlyArray<string>
  readonly unasserted: ReadonlyArray<string>
}

const lines = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const language = (asserted: string, unasserted: string): Language => ({
  asserted: lines(asserted),
  unasserted: lines(unasserted)
})

export const languages: Readonly<Record<string, Language>> = {
  German: language(
    `Die Antwort lautet @.
    Die endgültige Antwort ist [@].
    Endergebnis: @
    Das Ergebnis ist also $@$.
    Somit beträgt die gesuchte Anzahl [@].
    Lösung: **@**
    Da x nicht negativ sein kann, ist die Antwort [@].
    Zuerst dachte ich, es sei [#], aber das ist falsch. Die Antwort ist [@].`,
    `Die Antwort ist nicht [@].
    Ist die Antwort [@]? Nein.
    Die Antwort ist [@]. Halt, das ist falsch.
    Die Antwort ist [@]. Das stimmt nicht, ich habe mich verrechnet.
    Vielleicht ist es [@].
    Angenommen, die Antwort wäre [@]. Dann folgt ein Widerspruch.
    Wir können [@] ausschließen.
    Schreibe deine Antwort als [@]. Ich konnte die Aufgabe nicht lösen.
    Die Antwort ist [@] oder [#], beides ist möglich.
    Die Antwort ist [@]. Ich nehme das zurück.
    Ich weiß es nicht, aber ein Beispiel für das Format ist [@].`
  ),
  French: language(
    `La réponse est @.
    La réponse finale est [@].
    Réponse finale : @
    Le résultat est donc $@$.
    Donc le nombre cherché vaut [@].
    Puisque x ne peut pas être négatif, la réponse est [@].
    D'abord j'ai trouvé [#], mais c'est faux. La réponse est [@].`,
    `La réponse n'est pas [@].
    Est-ce [@] ? Non.
    La réponse est [@]. Attendez, c'est faux.
    La réponse est [@]. Non, je me suis trompé.
    C'est peut-être [@].
    Supposons par l'absurde que la réponse soit [@].
    On peut exclure [@].
    Écrivez votre réponse sous la forme [@]. Je n'ai pas réussi à résoudre le problème.
    La réponse est [@] ou [#], les deux sont plausibles.
    La réponse est [@]. Je retire cette réponse.
    Si la réponse était [@], on aurait une contradiction.`
  ),
  Spanish: language(
    `La respuesta es @.
    La respuesta final es [@].
    Respuesta final: @
    El resultado es $@$.
    Por lo tanto, el número buscado es [@].
    Como x no puede ser negativo, la respuesta es [@].
    Primero obtuve [#], pero eso es incorrecto. La respuesta es [@].`,
    `La respuesta no es [@].
    ¿Es [@]? No.
    La respuesta es [@]. Espera, eso está mal.
    La respuesta es [@]. No, me equivoqué.
    Quizás sea [@].
    Supongamos que la respuesta es [@].
    Podemos descartar [@].
    Escribe tu respuesta como [@]. No pude resolver el problema.
    La respuesta es [@] o [#], ambas son posibles.
    La respuesta es [@]. Retiro lo dicho.
    Si la respuesta fuera [@], habría una contradicción.`
  ),
  Italian: language(
    `La risposta è @.
    La risposta finale è [@].
    Risposta finale: @
    Il risultato è $@$.
    Quindi il numero cercato è [@].
    Poiché x non può essere negativo, la risposta è [@].`,
    `La risposta non è [@].
    È [@]? No.
    La risposta è [@]. Aspetta, è sbagliato.
    La risposta è [@]. No, ho commesso un errore.
    Forse è [@].
    Supponiamo per assurdo che la risposta sia [@].
    Possiamo escludere [@].
    Scrivi la tua risposta come [@]. Non sono riuscito a risolvere il problema.
    La risposta è [@] oppure [#], entrambe sono plausibili.
    La risposta è [@]. Ritiro quanto detto.`
  ),
  Portuguese: language(
    `A resposta é @.
    A resposta final é [@].
    Resposta final: @
    O resultado é $@$.
    Portanto, o número procurado é [@].
    Como x não pode ser negativo, a resposta é [@].`,
    `A resposta não é [@].
    Será [@]? Não.
    A resposta é [@]. Espere, isso está errado.
    A resposta é [@]. Não, cometi um erro.
    Talvez seja [@].
    Suponha, por contradição, que a resposta seja [@].
    Podemos descartar [@].
    Escreva sua resposta como [@]. Não consegui resolver o problema.
    A resposta é [@] ou [#], ambas são possíveis.
    A resposta é [@]. Retiro o que disse.`
  ),
  Dutch: language(
    `Het antwoord is @.
    Het eindantwoord is [@].
    Eindantwoord: @
    Het resultaat is $@$.
    Dus het gevraagde aantal is [@].
    Omdat x niet negatief kan zijn, is het antwoord [@].`,
    `Het antwoord is niet [@].
    Is het [@]? Nee.
    Het antwoord is [@]. Wacht, dat klopt niet.
    Het antwoord is [@]. Nee, ik heb een fout gemaakt.
    Misschien is het [@].
    Stel dat het antwoord [@] is.
    We kunnen [@] uitsluiten.
    Schrijf je antwoord als [@]. Ik kon het probleem niet oplossen.
    Het antwoord is [@] of [#], beide zijn mogelijk.
    Het antwoord is [@]. Dat is fout.`
  ),
  Chinese: language(
    `答案是@。
    最终答案是 [@]。
    最终答案：@
    因此，所求的数为 $@$。
    所以结果是 [@]。
    综上所述，答案为@。
    因为x不能为负，所以答案是 [@]。
    我先得到 [#]，但这是错的。正确答案是 [@]。`,
    `答案不是 [@]。
    答案是 [@] 吗？不是。
    答案是 [@]。等等，这是错的。
    答案是 [@]。不对，我算错了。
    也许是 [@]。
    假设答案是 [@]，则矛盾。
    我们可以排除 [@]。
    请把答案写成 [@]。我没能解出这道题。
    答案是 [@] 或 [#]，两者都有可能。
    如果答案是 [@]，就会得到矛盾。
    我收回之前的答案 [@]。`
  ),
  Japanese: language(
    `答えは@です。
    最終的な答えは [@] です。
    最終解答：@
    したがって、求める数は $@$ である。
    よって答えは [@]。
    正解は@となります。
    xは負にならないので、答えは [@] です。`,
    `答えは [@] ではありません。
    答えは [@] ですか？いいえ。
    答えは [@] です。待って、これは間違いです。
    答えは [@] です。いや、計算を間違えました。
    たぶん [@] かもしれません。
    答えが [@] だと仮定すると、矛盾が生じる。
    [@] は除外できます。
    答えは [@] の形式で書いてください。解けませんでした。
    答えは [@] または [#] で、どちらもあり得ます。
    もし答えが [@] なら、矛盾する。`
  ),
  Korean: language(
    `답은 @입니다.
    최종 답은 [@]입니다.
    최종 답: @
    따라서 구하는 수는 $@$이다.
    정답은 @이다.
    그러므로 답은 [@]이다.`,
    `답은 [@]이 아닙니다.
    답이 [@]인가요? 아니요.
    답은 [@]입니다. 잠깐, 틀렸습니다.
    답은 [@]입니다. 아니, 계산을 잘못했습니다.
    아마 [@]일 것입니다.
    답이 [@]라고 가정하자. 그러면 모순이다.
    [@]은 제외할 수 있습니다.
    답을 [@] 형식으로 쓰세요. 저는 문제를 풀지 못했습니다.
    답은 [@] 또는 [#]이며 둘 다 가능합니다.
    만약 답이 [@]라면 모순이 생긴다.`
  ),
  Russian: language(
    `Ответ: @.
    Окончательный ответ: [@].
    Итоговый ответ — @.
    Ответ равен $@$.
    Следовательно, искомое число равно [@].
    Так как x не может быть отрицательным, ответ [@].
    Сначала я получил [#], но это неверно. Ответ: [@].`,
    `Ответ не [@].
    Это [@]? Нет.
    Ответ: [@]. Подождите, это неверно.
    Ответ: [@]. Нет, я ошибся.
    Возможно, это [@].
    Предположим, что ответ [@].
    Можно исключить [@].
    Запишите ответ в виде [@]. Я не смог решить задачу.
    Ответ [@] или [#], оба варианта возможны.
    Если бы ответ был [@], получилось бы противоречие.
    Ответ: [@]. Беру свои слова обратно.`
  ),
  Arabic: language(
    `الجواب هو @.
    الإجابة النهائية هي [@].
    الجواب النهائي: @
    إذن الناتج هو $@$.
    وبالتالي فإن العدد المطلوب هو [@].
    الإجابة هي ٪.`.replace("٪", "@"),
    `الجواب ليس [@].
    هل الجواب [@]؟ لا.
    الجواب هو [@]. انتظر، هذا خطأ.
    الجواب هو [@]. لا، لقد أخطأت.
    ربما يكون [@].
    لنفترض أن الجواب هو [@].
    يمكننا استبعاد [@].
    اكتب إجابتك على شكل [@]. لم أستطع حل المسألة.
    الجواب [@] أو [#]، كلاهما ممكن.
    لو كان الجواب [@] لحصلنا على تناقض.`
  ),
  Hebrew: language(
    `התשובה היא @.
    התשובה הסופית היא [@].
    תשובה סופית: @
    לכן התוצאה היא $@$.
    ולכן המספר המבוקש הוא [@].`,
    `התשובה אינה [@].
    התשובה היא לא [@].
    האם זה [@]? לא.
    התשובה היא [@]. רגע, זה לא נכון.
    התשובה היא [@]. לא, טעיתי.
    אולי זה [@].
    נניח שהתשובה היא [@].
    אפשר לשלול את [@].
    כתוב את תשובתך בצורה [@]. לא הצלחתי לפתור את הבעיה.
    התשובה היא [@] או [#], שתיהן אפשריות.
    אם התשובה הייתה [@], היינו מקבלים סתירה.`
  ),
  Thai: language(
    `คำตอบคือ @
    คำตอบสุดท้ายคือ [@]
    คำตอบ: @
    ดังนั้น คำตอบคือ $@$
    ดังนั้นจำนวนที่ต้องการคือ [@]`,
    `คำตอบไม่ใช่ [@]
    คำตอบคือ [@] หรือไม่? ไม่
    คำตอบคือ [@] เดี๋ยวก่อน ผิดแล้ว
    คำตอบคือ [@] ไม่ถูกต้อง
    อาจจะเป็น [@]
    สมมติว่าคำตอบคือ [@]
    เราตัด [@] ออกได้
    เขียนคำตอบในรูปแบบ [@] ฉันแก้โจทย์นี้ไม่ได้
    คำตอบคือ [@] หรือ [#] เป็นไปได้ทั้งคู่
    ถ้าคำตอบคือ [@] จะเกิดข้อขัดแย้ง`
  ),
  Romanian: language(
    `Răspunsul este @.
    Răspunsul final este [@].
    Răspuns final: @
    Rezultatul este $@$.
    Prin urmare, numărul căutat este [@].
    Deoarece x nu poate fi negativ, răspunsul este [@].`,
    `Răspunsul nu este [@].
    Este [@]? Nu.
    Răspunsul este [@]. Stai, e greșit.
    Răspunsul este [@]. Nu, am greșit.
    Poate că este [@].
    Să presupunem că răspunsul este [@].
    Putem exclude [@].
    Scrie răspunsul ca [@]. Nu am reușit să rezolv problema.
    Răspunsul este [@] sau [#], ambele sunt posibile.
    Dacă răspunsul ar fi [@], am obține o contradicție.`
  ),
  Polish: language(
    `Odpowiedź to @.
    Ostateczna odpowiedź to [@].
    Odpowiedź końcowa: @
    Wynik wynosi $@$.
    Zatem szukana liczba to [@].`,
    `Odpowiedzią nie jest [@].
    Czy to [@]? Nie.
    Odpowiedź to [@]. Chwila, to błąd.
    Odpowiedź to [@]. Nie, pomyliłem się.
    Być może [@].
    Załóżmy, że odpowiedź to [@].
    Możemy wykluczyć [@].
    Zapisz odpowiedź jako [@]. Nie udało mi się rozwiązać zadania.
    Odpowiedź to [@] lub [#], obie są możliwe.
    Gdyby odpowiedzią było [@], mielibyśmy sprzeczność.`
  ),
  Turkish: language(
    `Cevap @.
    Cevap: @
    Son cevap: [@]
    Nihai cevap $@$'dir.
    Dolayısıyla istenen sayı [@].
    Sonuç olarak yanıt [@].`,
    `Cevap [@] değil.
    Cevap [@] mi? Hayır.
    Cevap [@]. Bekle, bu yanlış.
    Cevap [@]. Hayır, hata yaptım.
    Belki [@].
    Cevabın [@] olduğunu varsayalım.
    [@] seçeneğini eleyebiliriz.
    Cevabınızı [@] şeklinde yazın. Soruyu çözemedim.
    Cevap [@] veya [#], ikisi de mümkün.
    Eğer cevap [@] olsaydı, çelişki olurdu.`
  ),
  Swedish: language(
    `Svaret är @.
    Det slutgiltiga svaret är [@].
    Slutsvar: @
    Resultatet är $@$.
    Alltså är det sökta talet [@].`,
    `Svaret är inte [@].
    Är det [@]? Nej.
    Svaret är [@]. Vänta, det är fel.
    Svaret är [@]. Nej, jag räknade fel.
    Kanske är det [@].
    Anta att svaret är [@].
    Vi kan utesluta [@].
    Skriv ditt svar som [@]. Jag kunde inte lösa uppgiften.
    Svaret är [@] eller [#], båda är möjliga.
    Om svaret vore [@] skulle vi få en motsägelse.`
  ),
  Czech: language(
    `Odpověď je @.
    Konečná odpověď je [@].
    Výsledek: @
    Výsledek je tedy $@$.
    Hledané číslo je [@].`,
    `Odpověď není [@].
    Je to [@]? Ne.
    Odpověď je [@]. Počkat, to je špatně.
    Odpověď je [@]. Ne, spletl jsem se.
    Možná je to [@].
    Předpokládejme, že odpověď je [@].
    Můžeme vyloučit [@].
    Napište odpověď jako [@]. Úlohu se mi nepodařilo vyřešit.
    Odpověď je [@] nebo [#], obojí je možné.`
  ),
  Greek: language(
    `Η απάντηση είναι @.
    Η τελική απάντηση είναι [@].
    Τελική απάντηση: @
    Άρα το αποτέλεσμα είναι $@$.`,
    `Η απάντηση δεν είναι [@].
    Είναι [@]; Όχι.
    Η απάντηση είναι [@]. Περίμενε, αυτό είναι λάθος.
    Ίσως είναι [@].
    Ας υποθέσουμε ότι η απάντηση είναι [@].
    Μπορούμε να αποκλείσουμε το [@].
    Γράψτε την απάντηση ως [@]. Δεν μπόρεσα να λύσω το πρόβλημα.`
  ),
  Hindi: language(
    `उत्तर @ है।
    अंतिम उत्तर [@] है।
    अंतिम उत्तर: @
    अतः अभीष्ट संख्या [@] है।
    इसलिए उत्तर $@$ है।`,
    `उत्तर [@] नहीं है।
    क्या उत्तर [@] है? नहीं।
    उत्तर [@] है। रुकिए, यह गलत है।
    शायद उत्तर [@] है।
    मान लीजिए कि उत्तर [@] है।
    हम [@] को बाहर कर सकते हैं।
    अपना उत्तर [@] के रूप में लिखें। मैं यह प्रश्न हल नहीं कर सका।
    अगर उत्तर [@] होता, तो विरोधाभास होता।`
  ),
  Vietnamese: language(
    `Đáp án là @.
    Đáp án cuối cùng là [@].
    Đáp số: @
    Vậy kết quả là $@$.
    Do đó số cần tìm là [@].`,
    `Đáp án không phải là [@].
    Có phải là [@] không? Không.
    Đáp án là [@]. Khoan, điều này sai.
    Có lẽ là [@].
    Giả sử đáp án là [@].
    Ta có thể loại trừ [@].
    Hãy viết đáp án dưới dạng [@]. Tôi không giải được bài này.
    Nếu đáp án là [@] thì mâu thuẫn.`
  ),
  Indonesian: language(
    `Jawabannya adalah @.
    Jawaban akhir: [@]
    Jadi, jawaban akhirnya adalah $@$.
    Dengan demikian hasilnya adalah [@].`,
    `Jawabannya bukan [@].
    Apakah jawabannya [@]? Tidak.
    Jawabannya adalah [@]. Tunggu, itu salah.
    Mungkin [@].
    Misalkan jawabannya adalah [@].
    Kita bisa mengesampingkan [@].
    Tulis jawaban Anda sebagai [@]. Saya tidak bisa menyelesaikan soal ini.
    Jika jawabannya [@], maka terjadi kontradiksi.`
  ),
  Finnish: language(
    `Vastaus on @.
    Lopullinen vastaus on [@].
    Vastaus: @
    Siis tulos on $@$.`,
    `Vastaus ei ole [@].
    Onko se [@]? Ei.
    Vastaus on [@]. Hetkinen, tämä on väärin.
    Ehkä se on [@].
    Oletetaan, että vastaus on [@].
    Voimme sulkea pois arvon [@].
    Kirjoita vastauksesi muodossa [@]. En osannut ratkaista tehtävää.`
  ),
  Hungarian: language(
    `A válasz: @.
    A végső válasz [@].
    Végeredmény: @
    Tehát az eredmény $@$.`,
    `A válasz nem [@].
    A válasz [@]? Nem.
    A válasz [@]. Várj, ez hibás.
    Talán [@].
    Tegyük fel, hogy a válasz [@].
    Kizárhatjuk, hogy [@].
    Írd a választ [@] alakban. Nem tudtam megoldani a feladatot.`
  ),
  Ukrainian: language(
    `Відповідь: @.
    Остаточна відповідь: [@].
    Отже, шукане число дорівнює [@].`,
    `Відповідь не [@].
    Це [@]? Ні.
    Відповідь: [@]. Зачекайте, це неправильно.
    Можливо, це [@].
    Припустимо, що відповідь [@].
    Можна виключити [@].
    Запишіть відповідь у вигляді [@]. Я не зміг розв'язати задачу.`
  ),
  Persian: language(
    `پاسخ @ است.
    پاسخ نهایی: [@]
    جواب نهایی [@] است.
    بنابراین عدد مورد نظر [@] است.`,
    `پاسخ [@] نیست.
    آیا پاسخ [@] است؟ نه.
    پاسخ [@] است. صبر کنید، این اشتباه است.
    شاید [@] باشد.
    فرض کنیم پاسخ [@] باشد.
    می‌توان [@] را رد کرد.
    پاسخ خود را به شکل [@] بنویسید. نتوانستم مسئله را حل کنم.`
  ),
  Danish: language(
    `Svaret er @.
    Det endelige svar er [@].
    Endeligt svar: @
    Resultatet er $@$.`,
    `Svaret er ikke [@].
    Er det [@]? Nej.
    Svaret er [@]. Vent, det er forkert.
    Måske er det [@].
    Antag, at svaret er [@].
    Vi kan udelukke [@].
    Skriv dit svar som [@]. Jeg kunne ikke løse opgaven.`
  ),
  Norwegian: language(
    `Svaret er @.
    Det endelige svaret er [@].
    Endelig svar: @
    Dermed er resultatet $@$.`,
    `Svaret er ikke [@].
    Svaret er [@]. Vent, det er feil.
    Kanskje er det [@].
    Anta at svaret er [@].
    Vi kan utelukke [@].
    Skriv svaret som [@]. Jeg klarte ikke å løse oppgaven.`
  ),
  Bengali: language(
    `উত্তর হল @।
    চূড়ান্ত উত্তর: [@]
    সুতরাং উত্তর [@]।`,
    `উত্তর [@] নয়।
    উত্তর কি [@]? না।
    উত্তর [@]। দাঁড়ান, এটা ভুল।
    হয়তো উত্তর [@]।
    ধরি উত্তর [@]।`
  )
}
