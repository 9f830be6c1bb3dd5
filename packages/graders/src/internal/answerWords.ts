/** Labels with which a text announces its answer, in the languages that benchmarks are translated to. */

/** Translations of "answer" in the languages that benchmarks are translated to. */
export const answerWords =
  "answer|antwort|antwoord|réponse|reponse|respuesta|resposta|risposta|răspuns|raspuns|svar|svaret|vastaus|odpowiedź|odpowiedz|odpověď|odpoveď|odgovor|válasz|απάντηση|ответ|відповідь|отговор|одговор|одговорот|cevap|yanıt|жауап|jawaban|jawapan|đáp án|câu trả lời|trả lời|sagot|jibu|idahun|ìdáhùn|idáhùn|àdáhùn|àṣàyàn|amsa|الإجابة|الاجابة|إجابة|الجواب|جواب|پاسخ|תשובה|התשובה|উত্তর|উত্তরঃ|उत्तर|விடை|பதில்|సమాధానం|პასუხი|պատասխան|ഉത്തരം"

/** Translations in scripts without spaces between words. */
export const joinedWords = "答案|答复|答え|答|回答|解答|正解|解|정답|답변|답|คำตอบ|选项|選項|選択肢"

/** Translations of "result" in the same languages. */
export const resultWords =
  "lösung|ergebnis|endergebnis|endresultat|résultat|resultado|risultato|resultat|resultatet|resultaat|eindantwoord|uitkomst|slutsvar|rezultat|wynik|výsledek|výsledok|tulos|lopputulos|eredmény|végeredmény|sonuç|hasil|kết quả|đáp số|результат|итог|αποτέλεσμα|النتيجة|الناتج|نتیجه|התוצאה|תוצאה|परिणाम|ফলাফল"

/** Translations of "correct" in the same languages. */
export const rightWords =
  "correct[aeo]?|right|best|betul|صحیح|richtig\\p{L}*|korrekt\\p{L}*|juste|bonne|corrett[ao]|giust[ao]|esatt[ao]|corret[ao]|cert[ao]|juiste?|rätt|riktige?|rigtige?|poprawn\\p{L}*|prawidłow\\p{L}*|správn\\p{L}*|točan|točn\\p{L}*|tačan|corectă?|верн\\p{L}*|правильн\\p{L}*|вірн\\p{L}*|σωστ\\p{L}*|helyes|oikea|doğru|đúng|benar|tepat|sahihi|נכונ\\p{L}*|הנכונ\\p{L}*|صحيح\\p{L}*|الصحيح\\p{L}*|درست|सही|সঠিক"

/** Translations of "wrong" in the same languages. */
export const wrongWords =
  "wrong|incorrect|false|falsch|faux|fals[oa]|incorrect[oa]|sbagliat|errad|fout|fel(?!\\p{L})|forkert|błęd|špatně|greșit|неверн|неправильн|невірн|грешн|λάθος|yanlış|خطأ|غلط|נכון לא|שגוי|गलत|ভুল|ผิด|sai(?!\\p{L})|salah|错|錯|間違|誤|틀|نادرست"
