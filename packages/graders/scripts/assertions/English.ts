/**
 * English texts that assert an answer, and texts that do not, by class. `@` is the gold value, `#` another one, `[@]` a
 * box around it.
 */

const lines = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim().replaceAll("⏎", "\n").replaceAll("´", "`"))
    .filter((line) => line !== "")

/** Texts whose answer is `@`. */
export const asserted: Readonly<Record<string, ReadonlyArray<string>>> = {
  "boxes and labels": lines(String.raw`
    $N = @$. $\blacksquare$
    Therefore, $N = @$. $\square$
    Hence the count is [@]. QED
    Thus $n = @$. Q.E.D.
    So the answer is $@$. ∎
    We conclude that $x = @$, as required.
    **Answer**: @
    **Answer:** @
    **Final answer**⏎⏎@
    **Final Answer: [@]**
    ***Answer: @***
    __Answer:__ @
    *Answer:* @
    Answer⏎------⏎@
    Final Answer⏎===========⏎@
    ## Final Answer⏎@
    # Answer: @
    ### **Answer**⏎⏎**@**
    > **Answer:** @
    - **Answer:** @
    Final Answer: @
    FINAL ANSWER: @
    Final: @
    Result: @
    Ans: @
    Ans. @
    Ans = @
    A: @
    Answer - @
    Answer — @
    Answer = @
    (Answer: @)
    [Answer: @]
    | Answer |⏎|---|⏎| @ |
    <answer>@</answer>
    <answer> @ </answer>
    <answer>[@]</answer>
    <final_answer>@</final_answer>
    <ANSWER>@</ANSWER>
    #### @
    $\boxed{\boxed{@}}$
    $\boxed{\text{Answer: }@}$
    $\boxed{\mathbf{@}}$
    $\boxed{\large @}$
    $\boxed{\;@\;}$
    $\boxed{N = @}$
    $\fbox{@}$
    $\fbox{$@$}$
    $\framebox{@}$
    \begin{boxed}@\end{boxed}
    $$\bbox[border:2px solid red]{@}$$
    $\underline{\underline{@}}$
    {"answer": @}
    {"answer": "@"}
    {"reasoning": "We add up.", "final_answer": "@"}
    ´´´json⏎{"answer": @}⏎´´´
    ´´´⏎@⏎´´´
    The answer is ´@´.
    Therefore the answer is: **@**.
    The answer is therefore [@].
    The answer, then, is @.
    The required number is [@].
    So our final answer is $\boxed{@}$.
    My answer is @.
    My final answer: @
    I get @ as the answer.
    @ is the answer.
    Thus, [@] is the answer.
    So [@] is our final answer.
    Our answer is **@**!
    The correct answer is @.
    The answer comes out to @.
    The answer turns out to be [@].
    The answer equals @.
    This gives an answer of [@].
    This yields a final answer of @.
    We arrive at the answer @.
    Hence we obtain the answer [@].`),
  "around the answer": lines(`
    Since $n$ cannot be negative, the answer is [@].
    If we double this, we get the total, so the answer is [@].
    Let us assume $n > 0$. Then $n = [@]$.
    Case 2 is impossible. Hence the answer is [@].
    We first tried #, which fails. The answer is [@].
    It is not [#] but [@].
    The answer is not #; it is [@].
    The answer is [@], not #.
    The answer is [@] (and not [#]).
    Is it [#]? No, since it is odd. The answer is [@].
    Could it be #? No. It is [@].
    I first thought [#], but that was wrong. The answer is [@].
    [#] is wrong because we counted twice. So [@].
    We can rule out [#]. Therefore the answer is [@].
    What is the total? The answer is [@].
    The answer is [@]. I hope this helps!
    The answer is [@]. Let me know if you have any questions.
    The answer is [@]. Would you like me to explain a step?
    The answer is [@]. Note that negative values are not allowed.
    The answer is [@], since the other root is not an integer.
    The answer is [@]. We do not count the empty set.
    [@]⏎⏎Check: it satisfies both equations.
    The answer is [@].⏎⏎Verification: this is correct, no contradiction arises.
    Suppose not. Then we would have a contradiction. Hence the answer is [@].
    Wait, let me recheck. Yes, it is right. The answer is [@].
    Hmm, I made a mistake: it is not # but @. So the answer is [@].
    The answer is [@]. (I double-checked this, and # is wrong.)
    If you are curious: the answer is [@].
    I am not sure about the method, so I checked it twice. The answer is [@].
    There is no other solution. The answer is [@].
    It can't be #. So, the answer is [@].
    Writing the answer in the required format: [@]
    Let me write the final answer in the box: [@]
    I will put my final answer in a box: [@]
    Here is the final answer: [@]
    The final answer, in the format you asked for, is [@].
    Step 1: [#]⏎Step 2: we add the rest.⏎Final answer: [@]
    The first part gives [#]. Adding the second, we get [@].
    The answer is [@]. So the answer is [@].
    The answer is [@]. That is, @.
    [@]⏎⏎Final answer: @
    <answer>#</answer> Sorry, I miscounted. <answer>@</answer>
    The answer is #. Correction: the answer is @.
    Answer: #. Wait, I made an error. Answer: @.
    I thought about saying [#], but the answer is [@].
    Though one might guess [#], the answer is [@].
    Perhaps surprisingly, the answer is [@].
    You might think it is #. In fact the answer is [@].`),
  "in other words": lines(String.raw`
    Answer → @
    ⇒ @
    ∴ the answer is [@].
    The final value is [@].
    The total number of ways is [@].
    So the probability that it does not rain is [@].
    The number of students who do not like either is [@].
    The least number that cannot be formed is [@].
    The number of subsets with no two consecutive elements is [@].
    There are [@] ways if order matters. Order matters here, so the final answer is [@].
    Without loss of generality $a<b$. The answer is [@].
    Let $x$ be the number of apples. Then $x=[@]$.
    Assume $x>0$; then the equation gives $x = [@]$.
    If we let $n=3$, then the sum is [@].
    When $n$ is not prime we skip it. Counting the rest gives [@].
    We claim the answer is [@].
    I believe the answer is [@].
    I think the answer is [@].
    I'm confident that the answer is [@].
    After trying small cases, we find that the answer is [@].
    Testing each case, only one works: [@].
    The maximum possible value is [@].
    The smallest possible sum is [@].
    The number of possible outcomes is [@].
    The largest value it could take is [@].
    The only possible answer is [@].
    The only value that does not lead to a contradiction is [@].
    Ruling out the negative root, we get [@].
    Excluding the trivial case leaves [@].
    After eliminating $y$, we get $x = [@]$.
    The wrong terms cancel and we are left with [@].
    The expected value is [@].
    The error term vanishes, so the limit is [@].
    Thus, Bob needs [@] more coins.
    So Alice got [@] points.
    Hence John said [@] words.
    The user needs [@] coins.
    To get the total we add: [@]
    Adding them up, we get that there are [@] such pairs.
    **Final Answer:** The number of ways is [@].
    The value of $x$ is $\boxed{@}$, and this is the only solution.
    Therefore $\boxed{@}$ is the number we want.
    $\boxed{@}$ is the final answer.
    The answer is $\boxed{@}$. Let me verify: plugging it in gives the right value, so it is correct.
    The answer is $\boxed{@}$. Note: we could not use the other root because it is negative.
    The answer is $\boxed{@}$. Remember that 1 is not a prime.
    [@] (the other root, #, is extraneous)
    [@], because # does not satisfy the equation.
    The answer is [@] — not #, as one could think.
    No, wait. I forgot one case. Now the total is [@].
    Hmm, that gives #. But this is wrong since we forgot 0. So the total is [@].
    Let me double check. #? No. The correct count is [@].
    Answer: @ (exactly)
    Answer: @ units
    Answer: **@** ✅
    **Answer: (approximately) [@]**
    The answer is \( @ \).
    The answer is:⏎⏎@
    The answer is:⏎⏎$$@$$
    Final answer below.⏎⏎$$\boxed{@}$$
    Solution. We add. The result is [@]. □
    Thus the claimed answer [@] follows.
    It is impossible for n to be odd, which leaves [@].
    Since it can't be greater, and can't be less, it equals [@].
    Either way, the answer is [@].
    Neither case changes the total, which is [@].
    In both cases we get [@].
    If and only if $n$ is even this works, so there are [@] values.
    Whether or not $x$ is zero, the total is [@].
    Regardless of the format, the answer is [@].
    Putting everything together, we obtain [@].
    Writing it in simplest form, we get [@].
    As an improper fraction, this is [@].
    In the form requested, $m+n = [@]$.
    So $m + n = [@]$, as required.
    Expressed as requested, the answer is [@].
    The example with # shows the pattern; in general we get [@].
    For example, # works. In total there are [@].
    Previously we found #. Now adding the rest gives [@].
    The previous problem gave #, but here the answer is [@].
    I'll answer: [@]
    I'd answer [@].
    My best answer is [@].
    Submitting [@].
    So we submit [@].
    We box the answer: [@]
    Box: [@]
    Rounding to the nearest whole number, we get [@].
    Die gesuchte Wahrscheinlichkeit, dass es nicht regnet, ist [@].
    Ergebnis (nicht gerundet): [@]
    Damit ergibt sich [@].
    Es gibt also insgesamt [@] Möglichkeiten.
    Il y a donc [@] possibilités.
    On obtient [@].
    Le nombre de façons est [@].
    Hay [@] formas posibles.
    En total hay [@] maneras.
    Se obtiene [@].
    El número de maneras es [@].
    Ci sono [@] modi.
    In totale sono [@].
    Há [@] maneiras.
    O total é [@].
    Er zijn dus [@] manieren.
    In totaal zijn dat [@] manieren.
    一共有 [@] 种。
    共有[@]种可能的情况。
    故选[@]。
    不能被3整除的数有 [@] 个。
    合計は [@] 通りです。
    確率は [@] である。
    경우의 수는 [@]이다.
    Всего [@] способов.
    Итого [@].
    Вероятность равна [@].
    Sunt [@] moduri.
    În total sunt [@] posibilități.
    Total ada [@] cara.
    มีทั้งหมด [@] วิธี`),
  "asserted in passing": lines(`
    Summing over all cases yields [@].
    Consequently, there exist exactly [@] such integers.
    Total: [@]
    Area: [@]
    Probability: [@]
    Number of ways: [@]
    Step 3: [@]
    Part (b): [@]
    Finally: [@]
    Simplify: [@]
    Then $a+b=[@]$.
    We have shown that it equals [@].
    It must therefore be [@].
    This means Tom has [@] apples left.
    She will finish in [@] days.
    Each of the 4 friends gets [@] dollars, if they share evenly.
    The remaining amount is [@].
    To conclude: [@]
    Conclusion: [@]
    In conclusion, we have [@].
    In summary, the answer is [@].
    All in all, [@].
    Overall, the total is [@].
    Our result: [@]
    The final result is [@].
    The solution is $x = [@]$.
    The solution to the equation is [@].
    The sum of the solutions is [@].
    The difference is [@].
    The remainder when it is divided by 100 is [@].
    The remainder is [@].
    The greatest common divisor is [@].
    The tens digit is [@].
    The area of the region not covered by the circle is [@].
    The probability of no collisions is [@].
    The number of integers between 1 and 100 that are neither squares nor cubes is [@].
    The number of ways to choose at least one book is [@].
    The minimum is at least # and is attained, so it is [@].
    Exactly [@] of them work.
    There are no more, so we have [@] in all.
    We cannot do better, so the maximum is [@].
    It can't be improved; hence [@].
    Since no two are equal, we get [@].
    Not counting the empty set, there are [@] subsets.
    Without the empty set, we have [@].
    Unless they are equal, each pair counts twice, so we have [@].
    Because it never vanishes, the minimum is [@].
    Provided the series converges, which it does, its sum is [@].
    Suppose there are $n$ people. Then $n(n-1)/2=#$ gives $n=[@]$.
    Let's assume the worst case; then we need [@] draws.
    If the first fails and the second fails too, the probability is [@].
    Try $x=2$: too small. Try $x=3$: it works. The sum is then [@].
    Guess and check gives $x=#$. Then the total is [@].
    Maybe this looks odd, but the answer is [@].
    What remains is [@].
    How many? [@].
    How many are there? There are [@].
    So what is the answer? It is [@].
    Is it prime? Yes. So the answer is [@].
    Can we do better? No. So the maximum is [@].
    Wrong approach first: #. Right approach: the answer is [@].
    My first attempt gave #, which double-counted. Correctly, the answer is [@].
    I made an error earlier; the right total is [@].
    Correction: the total is [@].
    Oops, I misread. The answer is [@].
    Let me redo this. The answer is [@].
    The answer is [@]. This is the correct answer.
    The answer is [@]. This completes the solution.
    The answer is [@]. The solution is complete.
    The answer is [@]. Done!
    The answer is [@]. Hope that helps!
    The answer is [@]. Let me know if anything is unclear!
    The answer is [@]. Thanks for the fun problem.
    The answer is [@]. We can check this by substituting it back.
    The answer is [@]. Double-checking: both sides agree.
    The answer is [@]. Here we used the Pythagorean theorem.
    The answer is [@]. This follows from Vieta's formulas.
    The answer is [@]. It is the smallest such number.
    The answer is [@]. As a sanity check, this is less than the total.
    The answer is [@].⏎⏎**Explanation:** We multiply the number of rows by the number of columns.
    The answer is [@].⏎⏎Key idea: each pair is counted twice.
    The answer is [@]. Key step: factor the quadratic.
    [@]⏎⏎Explanation: the wrong choices come from forgetting the sign.
    [@]⏎⏎**Why this works**: every path crosses the diagonal exactly once.
    [@] km
    [@] cm²
    [@] square units
    Die Summe ist [@].
    Folglich gilt $x = [@]$.
    Insgesamt sind es [@].
    Man erhält [@].
    Daraus folgt, dass die Antwort [@] ist.
    Die Fläche beträgt [@].
    Es bleiben [@] übrig.
    La somme vaut [@].
    On trouve donc [@].
    D'où $x = [@]$.
    Il reste [@] pommes.
    L'aire est [@].
    La suma es [@].
    De donde $x = [@]$.
    Quedan [@] manzanas.
    El área es [@].
    En conclusión, la respuesta es [@].
    La somma è [@].
    Rimangono [@] mele.
    L'area è [@].
    Si ottiene [@].
    A soma é [@].
    Restam [@] maçãs.
    A área é [@].
    Obtemos [@].
    De som is [@].
    Er blijven [@] appels over.
    De oppervlakte is [@].
    面积为 [@]。
    总和是 [@]。
    还剩 [@] 个苹果。
    由此可得 [@]。
    最小值为 [@]。
    面積は [@] です。
    残りは [@] 個です。
    最小値は [@] となる。
    넓이는 [@]이다.
    합은 [@]입니다.
    Сумма равна [@].
    Осталось [@] яблок.
    Площадь равна [@].
    Получаем [@].
    المساحة هي [@].
    المجموع يساوي [@].
    השטח הוא [@].
    הסכום הוא [@].
    พื้นที่เท่ากับ [@]
    ผลรวมคือ [@]
    Suma este [@].
    Aria este [@].
    Suma wynosi [@].
    Pole wynosi [@].
    Toplam [@] olur.
    Alan [@] birimkaredir.
    Summan är [@].
    Arean är [@].
    Součet je [@].`),
  "third set": lines(`
    Accordingly, the count comes to [@].
    Putting $n=4$ gives the maximum, [@].
    This shows that the minimal perimeter is [@].
    Our final count: [@]
    Number of solutions: [@]
    We see that only [@] remains.
    Therefore there must be [@] of them.
    Solving, $t = [@]$.
    Since the die is fair, the expected number is [@].
    Hence, Mary is [@] years old.
    The train arrives after [@] minutes.
    Altogether she paid [@] dollars.
    The required probability, when neither event happens, is [@].
    It follows that the value is [@].
    The answer is [@]. You can verify it with a short program.
    The answer is [@]. This agrees with our estimate.
    The answer is [@]. Both methods agree.
    The answer is [@]. Note that the order of the factors is irrelevant.
    [@] is what we wanted.
    Die gesuchte Zahl lautet [@].
    Also gibt es genau [@] Paare.
    Le nombre cherché est [@].
    La probabilité vaut [@].
    La probabilidad es [@].
    Por tanto hay [@] parejas.
    La probabilità è [@].
    A probabilidade é [@].
    De kans is [@].
    所以概率为 [@]。
    したがって、最大値は [@] である。
    따라서 최댓값은 [@]이다.
    Значит, вероятность равна [@].
    لذلك فإن الاحتمال هو [@].
    לכן ההסתברות היא [@].
    ดังนั้นความน่าจะเป็นคือ [@]
    Probabilitatea este [@].
    Zatem prawdopodobieństwo wynosi [@].`)
}

/** Texts that assert nothing, or something else than `@`. */
export const unasserted: Readonly<Record<string, ReadonlyArray<string>>> = {
  "ruled out": lines(`
    We can rule out $[@]$.
    We have ruled out [@].
    This excludes [@].
    So [@] is excluded.
    [@] can be excluded.
    The answer is not [@].
    The answer isn't [@].
    The answer cannot be [@].
    The answer can't be [@].
    It is not the case that the answer is [@].
    [@] is wrong.
    [@] is not the answer.
    [@] does not work.
    [@] doesn't satisfy the equation.
    [@] fails the second condition.
    [@] is incorrect, as a check shows.
    The wrong answer is [@].
    A wrong answer would be [@].
    A common mistake is to answer [@].
    A common wrong answer is [@].
    The incorrect answer [@] comes from counting twice.
    Many students get [@], which is wrong.
    My friend says the answer is [@], but I disagree.
    Some would say [@]. They are mistaken.
    It is tempting to answer [@], but that counts one twice.
    One might think that the answer is [@].
    Nobody should answer [@].
    Never answer [@].
    Do not write [@].
    Don't answer [@].
    We reject [@].
    We discard [@].
    We eliminate $[@]$.
    Eliminating [@], we are left with two cases.
    We must avoid [@].
    Anything but [@].
    The answer is anything but [@].
    The answer is different from [@].
    The answer is other than [@].
    The answer differs from [@].
    The answer is far from [@].
    Rather than [@], consider the next case.
    Instead of [@] we need something else.
    It is impossible that the answer is [@].
    There is no way the answer is [@].
    I doubt that the answer is [@].
    I disagree that the answer is [@].
    The answer is unlikely to be [@].
    No, not [@].
    Neither [@] nor [#] is right.
    The claim "the answer is [@]" is false.
    The statement that the answer is [@] is false.
    To say that the answer is [@] would be wrong.`),
  question: lines(`
    Is it [@]? No.
    Is it [@]?
    Is the answer [@]?
    Could the answer be [@]?
    Could it be [@]? I do not know.
    The answer is [@]?
    Would [@] be the answer?
    What if the answer is [@]?
    So, is the answer @?
    How can the answer be [@]?
    Who says that the answer is [@]?
    Should I answer [@]?
    Isn't it [@]?
    The question is whether the answer is [@].
    I wonder whether the answer is [@].
    Let us check whether the answer is [@].
    Let me check if it is [@].
    We have to decide if the answer is [@] or not.
    Is the answer <answer>@</answer>? I can't tell.`),
  format: lines(`
    Put your answer as $[@]$. I was not able to solve it.
    You asked me to put my answer in the form [@]. I was unable to solve the problem.
    The format is [@].
    The answer format is <answer>@</answer>.
    Please give your final answer as [@].
    Write your final answer as [@].
    For example, [@].
    For instance [@] would be a valid format.
    e.g. [@]
    Answers look like [@], e.g. I could not find one.
    An answer such as [@] is expected.
    Example: [@]
    Sample answer: [@]
    Format: <answer>@</answer>
    Expected format: [@]
    The template is [@].
    Replace the placeholder in [@] with your answer.
    The instructions say to box the answer like this: [@]. I have none.
    I should end with "The answer is @." but I have no answer.
    The prompt says: end with "Answer: @".
    As instructed, the response should contain [@]. However, I don't know the answer.
    If I had an answer, I would write [@].
    I would write [@] here if I knew it.
    I don't know the answer. [@]
    I could not solve this. [@]
    I give up. [@]
    I have no idea, so here is a placeholder: [@]
    I was not able to solve it, so I will guess: [@]
    Just a guess: [@]
    Random guess: [@]
    I am guessing [@].
    Let me guess: [@]
    Dummy answer: [@]
    A typical answer is of the form [@].
    The question wants something like [@].
    In problems of this kind one writes [@].
    The example in the prompt was [@].
    As in the example, [@].`),
  hypothesis: lines(`
    Suppose for contradiction that the answer is [@].
    Suppose, for contradiction, that the answer is [@].
    Suppose that the answer is [@]. Then we get a contradiction.
    Assume the answer is [@]. This leads nowhere.
    Assume for a moment that $n = [@]$.
    Assuming that the answer is [@], the sum would be odd.
    Let us suppose the answer is [@].
    Say the answer is [@]. Then the sum is odd, a contradiction.
    Let's say the answer is [@] and see what happens.
    If the answer is [@], then the sum is odd.
    If the answer were [@], the sum would be odd.
    Were the answer [@], the sum would be odd.
    Had the answer been [@], we would be done.
    Unless the answer is [@], we are lost.
    Imagine that the answer is [@].
    Pretend the answer is [@].
    Consider the possibility that the answer is [@].
    Let us test [@].
    Let us try [@].
    We try [@] and see.
    Try [@].
    Trying [@] gives a contradiction.
    Testing [@]: it fails.
    Hypothesis: the answer is [@].
    Conjecture: the answer is [@].
    My first conjecture was [@].
    In that case the answer would be [@].
    The answer would be [@] if the dice were fair, but they are not.
    The answer would have been [@].
    Provided that n is even, the answer would be [@]; but n is odd.
    Granting that the answer is [@], we derive 0 = 1.
    Toward a contradiction, let the answer be [@].
    By way of contradiction, let $n = [@]$.
    Let the answer be [@]. We reach a contradiction.
    The answer is [@]. This contradicts the first condition.
    The answer is [@], which leads to a contradiction.
    The answer is [@], a contradiction.`),
  hedge: lines(`
    Maybe [@].
    Perhaps the answer is [@].
    The answer might be [@].
    The answer may be [@].
    The answer could be [@].
    Possibly [@].
    The answer is possibly [@].
    The answer is maybe [@].
    The answer is [@], maybe.
    The answer is [@], I guess.
    The answer is [@], but I'm not sure.
    The answer is [@], but I am not certain.
    The answer is [@] (not sure).
    The answer is [@] (a guess).
    [@]? I am unsure.
    The answer is [@], though this could be wrong.
    The answer is [@], or so I would guess.
    The answer is [@], but this may be incorrect.
    The answer is at least [@].
    The answer is at most [@].
    The answer is less than [@].
    The answer is more than [@].
    The answer is [@] at most.
    The answer is [@] or more.
    The answer is close to [@].
    The answer is near [@].
    The answer is bounded by [@].
    A lower bound is [@].
    An upper bound on the answer is [@].
    One candidate is [@].
    A possible answer is [@].
    A possible candidate: [@]`),
  "two candidates": lines(`
    The answer is [@] or [#].
    The answer is [#] or [@].
    Either [@] or [#].
    The answer is either @ or #.
    [@] or [#], both are plausible.
    The answer is [@]. It could also be [#]. Both are plausible.
    [@] and [#] are both plausible.
    The candidates are [#] and [@].
    One answer is [#], another is [@].
    Method 1 gives [#]. Method 2 gives [@]. I cannot decide.
    The answer is [@]. Alternatively, the answer is [#].
    The answer is [#]. Alternatively, the answer is [@].
    The answer is #. The answer is @.
    Answer: # Answer: @
    Answer: #⏎Answer: @
    <answer>#</answer><answer>@</answer>
    <answer>#</answer> <answer>@</answer>
    <answer>#</answer>⏎⏎<answer>@</answer>
    <answer>@</answer> or <answer>#</answer>
    <answer>@ or #</answer>
    <answer>@</answer> [#]
    The answer is [#]. The answer is [@].
    Answer 1: [#]. Answer 2: [@].
    It is between [#] and [@].
    I hesitate between [#] and [@].
    Option one is [#], option two is [@].
    My two guesses are [#] and [@].
    {"answer": #} {"answer": @}
    #### #⏎#### @`),
  "taken back": lines(String.raw`
    The answer is [@]. That is wrong.
    The answer is [@]. Wait, that is wrong.
    The answer is [@]. No, that's not right.
    The answer is [@]. Hmm, that's not correct.
    The answer is [@]. I made a mistake.
    The answer is [@]. Oops, I made an error there.
    The answer is [@]. Scratch that.
    The answer is [@]. I take that back.
    The answer is [@]. I take it back.
    The answer is [@]. I retract that.
    The answer is [@]. I withdraw this answer.
    The answer is [@]. Please ignore that.
    The answer is [@]. Please disregard the above.
    The answer is [@]. Never mind, this fails.
    The answer is [@]. On reflection this cannot be.
    The answer is [@]. But this is incorrect, as a check shows.
    The answer is [@]. But that cannot be right.
    The answer is [@]. However, this does not satisfy the equation.
    The answer is [@]. Checking: it does not work.
    The answer is [@]. This fails the second condition.
    The answer is [@]. Just kidding.
    The answer is [@]. Actually, no.
    The answer is [@]. Actually I don't know.
    The answer is [@]. In fact, I have no idea.
    The answer is [@]. I no longer believe this.
    The answer is [@]. I am not sure.
    The answer is [@]. The previous statement is false.
    The answer is [@]. Not really.
    The answer is [@]... or not.
    The answer is [@]. Wait, no.
    The answer is [@]. No.
    The answer is [@]. Nope.
    The answer is [@]. The above is invalid.
    The answer is [@]. It should be #.
    The answer is [@]. It should have been #.
    The answer is [@]. Actually, it is #.
    The answer is [@]. Correction: #.
    The answer is [@]. So the final answer is [#].
    The answer is @, no wait, #.
    ~~The answer is [@].~~
    ~~[@]~~ [#]
    <del>[@]</del>
    <s>The answer is @.</s>
    <!-- [@] -->
    The following is wrong: [@]
    The following is not the answer:⏎[@]
    Ignore this: [@]
    Ignore the next line.⏎[@]
    What not to answer: [@]
    This is not the answer:⏎⏎[@]
    <think>The answer is [@].</think> I could not solve it.
    <think>The answer is [@].
    % \boxed{@}`),
  quoted: lines(`
    The assistant wrote "The answer is [@]." I think it is wrong.
    The user claims the answer is [@].
    According to Bob, the answer is [@]. Bob is wrong.
    Bob got [@] and Alice got [#].
    Alice's answer is [@], Bob's is [#].
    The book gives [@] for a similar problem.
    In the previous problem the answer was [@].
    The previous answer was [@].
    For a different problem, the answer is [@].
    The answer to the previous problem is [@].
    The answer to part (a) is [@]. For part (b) I have no answer.
    The sum of digits of the answer is [@].
    The answer is [@] more than #.
    The answer is twice [@].
    The answer is the square of [@].
    The answer is the number after [@].
    The answer is a multiple of [@].
    The answer is divisible by [@].
    The answer has [@] digits.
    The answer is one less than [@].
    The last digit of the answer is [@].`),
  "in other words, not asserted": lines(String.raw`
    It would be wrong to conclude that the answer is [@].
    One cannot conclude that the answer is [@].
    Nothing shows that the answer is [@].
    I refuse to believe it is [@].
    The answer is certainly not [@].
    The answer is by no means [@].
    The answer is hardly [@].
    Under no circumstances is the answer [@].
    The solution manual lists [@]; that's an error.
    ChatGPT told me [@], which seems off.
    A student wrote [@]. Where is the mistake?
    Find the error in this solution: the answer is [@].
    We get [@]; absurd.
    Then n would equal [@], impossible.
    That would force the answer to be [@], which is absurd.
    This would imply the answer is [@].
    It would follow that the answer is [@].
    If true, the answer would be [@].
    Taking n = 3 for the sake of argument gives [@].
    Let's pretend it's [@].
    Were it [@], we would be finished.
    What about [@]?
    Why not [@]?
    [@], right?
    [@], perhaps?
    [@] or so.
    [@]-ish
    Roughly speaking, maybe [@].
    My guess: [@]
    Best guess: [@]
    Wild guess - [@]
    Educated guess: [@]
    Guess: [@]
    I'd guess [@].
    If I had to guess, [@].
    If forced to choose, I'd say [@], but I can't justify it.
    No answer. [@]
    N/A [@]
    Error: could not compute. [@]
    TODO: replace [@] with the real answer.
    [@] (placeholder)
    [@] (example)
    [@] (this is just the format)
    [@] <- replace this
    Your final line should look like: [@]
    Your response must end with [@].
    End your response with [@].
    Remember to use \boxed{}: e.g. [@]
    The required syntax is [@].
    Use the following format: [@]
    As per the instructions: "Final answer: [@]".
    The system prompt mentions [@].
    (The format would be [@].)
    Output format -> [@]
    The answer should be given like so: [@]
    The answer is one of [#] and [@].
    The answer is among [#], [@].
    It's a tie between [#] and [@].
    First candidate: [#]. Second candidate: [@].
    Possibility 1: [#]. Possibility 2: [@].
    A: [#] B: [@]
    Approach A yields [#]; approach B yields [@].
    Team 1 says [#], team 2 says [@].
    Some say [#] and others say [@].
    Answer: [#]. Alternative answer: [@].
    Answer: @? Answer: #?
    Final answer: # (or @)
    Final answer: @ (or #)
    Final answer: @/#
    Final answer: # / @
    The answer is @ and #.
    The answer is not @ but #.
    The answer is # and not @.
    The answer is #, not [@].
    The answer is [#], rather than [@].
    The answer is [@]. Edit: wrong.
    The answer is [@]. EDIT: I was wrong, it's #.
    The answer is [@]. Update: this is incorrect.
    The answer is [@]. Well, that was too quick.
    The answer is [@]. But hold on: that ignores the zero case, so it cannot be.
    The answer is [@]. This can't be, as n is odd.
    The answer is [@]. Except it isn't.
    The answer is [@]. Except that it is not.
    The answer is [@]. Strike that.
    The answer is [@]. Cancel that.
    The answer is [@]. Withdrawn.
    The answer is [@]. Retracted.
    The answer is [@]. (Retracted)
    The answer is [@]. Ignore the previous sentence.
    The answer is [@]. Ignore my previous answer.
    The answer is [@]. Don't trust this.
    The answer is [@]. Do not use this.
    The answer is [@]. I lied.
    The answer is [@]. Psych!
    The answer is [@]. That said, I have serious doubts.
    The answer is [@]. I have my doubts.
    The answer is [@]. My confidence is zero.
    The answer is [@]. I don't think that's right.
    The answer is [@]. That doesn't look right.
    The answer is [@]. Something is off.
    The answer is [@]. There is an error somewhere.
    The answer is [@]. There must be a mistake.
    The answer is [@]. I see a mistake above.
    The answer is [@]. I need to redo this.
    The answer is [@]. Let me start over.
    The answer is [@]. So the answer is not [@].
    The answer is [@]. The answer is not [@].
    The answer is [@]. Sorry, I can't answer.
    Die Antwort ist keineswegs [@].
    Es wäre falsch, [@] zu antworten.
    Man könnte meinen, die Antwort sei [@].
    [@] kommt nicht in Frage.
    [@] scheidet aus.
    Die Antwort ist [@]. Quatsch.
    Die Antwort ist [@]. Streich das.
    Die Antwort ist [@]. Da ist ein Fehler drin.
    Ich rate einfach: [@]
    Keine Ahnung, [@]
    Das Format ist [@].
    Il est faux que la réponse soit [@].
    On pourrait croire que la réponse est [@].
    [@] ne convient pas.
    La réponse est [@]. Oubliez ça.
    La réponse est [@]. En fait, je ne sais pas.
    Par exemple : [@]
    Je devine : [@]
    Es falso que la respuesta sea [@].
    [@] no cumple la condición.
    La respuesta es [@]. Olvídalo.
    La respuesta es [@]. En realidad no lo sé.
    Por ejemplo: [@]
    Adivino que es [@].
    Sarebbe sbagliato rispondere [@].
    [@] non va bene.
    La risposta è [@]. Anzi, no.
    La risposta è [@]. In realtà non lo so.
    Ad esempio: [@]
    Seria errado responder [@].
    [@] não serve.
    A resposta é [@]. Na verdade, não sei.
    Por exemplo: [@]
    [@] voldoet niet.
    Het antwoord is [@]. Eigenlijk weet ik het niet.
    Bijvoorbeeld: [@]
    有人说答案是 [@]，但不正确。
    答案是 [@]。我不确定。
    答案是 [@]。算了，忽略上面的内容。
    例如：[@]
    我猜是 [@]。
    [@] 不符合题意。
    答えは [@] です。やっぱり違います。
    例：[@]
    [@] は条件を満たさない。
    答えは [@] です。自信がありません。
    답은 [@]입니다. 사실 잘 모르겠습니다.
    예: [@]
    [@]은 조건을 만족하지 않는다.
    [@] не подходит.
    Ответ: [@]. Хотя нет.
    Ответ: [@]. На самом деле я не знаю.
    Например, [@].
    Угадываю: [@]
    [@] غير صحيح.
    الجواب [@]. في الواقع لا أعرف.
    مثال: [@]
    [@] אינו מתאים.
    התשובה היא [@]. בעצם אני לא יודע.
    לדוגמה: [@]
    [@] ไม่ถูกต้อง
    ตัวอย่าง: [@]
    คำตอบคือ [@] แต่ฉันไม่แน่ใจ
    [@] nu convine.
    Răspunsul este [@]. De fapt nu știu.
    De exemplu: [@]
    [@] nie spełnia warunku.
    Odpowiedź to [@]. Właściwie nie wiem.
    Na przykład: [@]
    [@] uygun değil.
    Cevap [@]. Aslında bilmiyorum.
    Örneğin: [@]`),
  "seemingly asserted": lines(`
    I am told the answer is [@]; I can't verify that.
    Rumor has it that the answer is [@].
    Apparently the answer is [@], though my own computation gives #.
    The key says [@]. My computation disagrees.
    The hint says the answer is not [@].
    The expected answer might be [@].
    People often answer [@] here.
    It looks as if the answer were [@].
    At first glance the answer seems to be [@].
    At first sight, one would say [@].
    Naively, the answer is [@].
    A naive count gives [@], an overcount.
    Ignoring the constraint, we get [@].
    If we ignored the constraint, we would get [@].
    Had we forgotten the constraint, we would have got [@].
    We would get [@] only if order mattered.
    [@] would be right if order mattered.
    [@] is close, but wrong.
    [@] is too small.
    [@] is too large to be the answer.
    [@] is a decoy.
    [@] is a trap.
    [@] is a red herring.
    [@] is not even an integer.
    [@] violates the constraint.
    [@] contradicts the hypothesis.
    [@] leads to a contradiction.
    [@] can't be the answer.
    [@] must be discarded.
    [@] is out of range.
    [@] is extraneous.
    [@] is an extraneous root.
    [@] is one option.
    [@] is one of the options.
    [@] is the answer to another question.
    [@] is what I got at first.
    [@] is what you would get by double counting.
    [@] was my first thought.
    [@]: no.
    [@]: wrong.
    [@] ✗
    [@] ❌
    ❌ [@]
    ✗ [@]
    Wrong: [@]
    Incorrect: [@]
    Not [@]
    Not this: [@]
    NOT [@]
    Bad: [@]
    Draft: [@]
    Scratch work: [@]
    Old answer: [@]
    Previous attempt: [@]
    Attempt 1 (failed): [@]
    First attempt, which failed: [@]
    Deprecated: [@]
    Hypothetically, [@].
    Theoretically it could be [@].
    In theory, perhaps [@].
    In an ideal world the answer would be [@].
    One day the answer may be [@].
    Either it is [@] or I am mistaken.
    It's either [@] or something else.
    It might as well be [@].
    I'm torn between [#] and [@].
    Could be [#], could be [@].
    [#]? [@]? Who knows.
    [#] if order matters, [@] otherwise.
    [#] (with order) / [@] (without order)
    If order matters: [#]. If not: [@].
    Answer (version 1): [#]. Answer (version 2): [@].
    Solution 1: [#]
    Solution 2: [@]
    The answer is [#]. The answer is [@]. One of them must be right.
    I'd say [#]; on the other hand, [@].
    [#] seems right, but so does [@].
    Answer: [#] / [@]
    [#] vs [@]
    [#]⏎[@]
    The answer is @?
    Answer: @?
    Answer: maybe @
    Answer: not @
    Answer: unknown (@?)
    Answer: I don't know, perhaps @
    Answer: none, but @ comes close
    Final answer: ?? (@)
    The answer is @, or is it?
    The answer is @... I think not.
    The answer is @. Just kidding, it's #.
    The answer is @. Not!
    The answer is @ — wrong.
    The answer is @ (wrong).
    The answer is @ (not verified, may be wrong).
    The answer is @, which I know to be false.
    The answer is @, said nobody ever.
    "The answer is @" is what a careless reader would write.
    A careless reader would write "The answer is @".
    Don't say "the answer is @".
    He said "the answer is @" and he was wrong.
    The sentence "The answer is @." has four words.
    The string "Answer: @" is an example.
    Print "Answer: @".
    print("Answer: @")
    echo Answer: @
    <answer>not @</answer>
    <answer>@?</answer>
    <answer>maybe @</answer>
    <answer>@</answer> is wrong.
    <answer>@</answer> is the wrong answer.
    <answer>@</answer> (example)
    Example output: <answer>@</answer>
    Use <answer>@</answer> tags.
    The tags <answer>@</answer> are just a template.
    If I knew, I'd write <answer>@</answer>.
    <answer>@</answer> No, that is not right.
    <answer>@</answer> I retract this.
    Not <answer>@</answer>.
    {"answer": "not @"}
    {"answer": "@?"}
    {"answer": "@ or #"}
    {"format": {"answer": "@"}}
    Respond with JSON like {"answer": "@"}.
    Es ist nicht so, dass die Antwort [@] ist.
    Auf den ersten Blick ist die Antwort [@].
    Fälschlich erhält man [@].
    [@] ist zu groß.
    [@] ist falsch.
    [@] wäre die Antwort auf eine andere Frage.
    Alte Antwort: [@]
    Falsch: [@]
    Entweder [#] oder [@].
    À première vue, la réponse est [@].
    [@] est trop grand.
    [@] est faux.
    [@] serait la réponse à une autre question.
    Ancienne réponse : [@]
    Faux : [@]
    Soit [#], soit [@].
    A primera vista, la respuesta es [@].
    [@] es demasiado grande.
    [@] es incorrecto.
    Incorrecto: [@]
    O [#] o [@].
    A prima vista la risposta è [@].
    [@] è troppo grande.
    [@] è sbagliato.
    Sbagliato: [@]
    À primeira vista, a resposta é [@].
    [@] é grande demais.
    [@] está errado.
    Op het eerste gezicht is het antwoord [@].
    [@] is te groot.
    [@] is fout.
    乍一看答案是 [@]。
    [@] 太大了。
    [@] 是错的。
    错误：[@]
    要么 [#]，要么 [@]。
    一見すると答えは [@] です。
    [@] は大きすぎます。
    [@] は間違いです。
    [@]은 너무 큽니다.
    [@]은 틀렸습니다.
    На первый взгляд ответ [@].
    [@] слишком велико.
    [@] — неверно.
    Неверно: [@]
    Либо [#], либо [@].
    [@] خاطئ.
    للوهلة الأولى الجواب هو [@].
    [@] שגוי.
    במבט ראשון התשובה היא [@].
    [@] ผิด
    [@] มากเกินไป
    [@] este greșit.
    La prima vedere, răspunsul este [@].
    [@] jest błędne.
    Na pierwszy rzut oka odpowiedź to [@].
    [@] yanlış.
    İlk bakışta cevap [@].
    [@] är fel.`),
  "third set, not asserted": lines(`
    The claimed value [@] does not hold up.
    The computer printed [@], but there is a bug.
    We need to show that [@] is impossible.
    Show that the answer is [@].
    Prove that the sum equals [@].
    It remains to be seen whether the sum is [@].
    There is no reason for it to be [@].
    Nobody knows if it is [@].
    I could be convinced that it is [@].
    Let me see what happens when $x = [@]$.
    What happens if we take [@]?
    We might try [@] next.
    Starting from the guess [@], we iterate.
    Your answer of [@] is not right.
    Your answer [@] misses a case.
    You answered [@]; the correct value is [#].
    An incorrect solution obtains [@].
    Some textbooks print [@] by mistake.
    I would bet on [@].
    My intuition says [@].
    My gut feeling: [@]
    A reasonable estimate is [@].
    As a rough estimate, [@].
    The answer lies between [#] and [@].
    The answer exceeds [@].
    The answer is smaller than [@].
    Not sure, but [@]
    idk, [@]
    dunno [@]
    [@] lol
    [@] jk
    [@]. Nah, that can't be it.
    [@]. Hmm, that seems off.
    [@]. That contradicts what we found.
    [@]. I now see this was nonsense.
    [@]. Sorry, that was a typo.
    [@]. Delete this answer.
    [@]. Pretend I never said that.
    [@]. Forget it.
    [@]. Or maybe [#].
    [@]. It may also be [#].
    [@]. But [#] works as well.
    Either answer is fine: [@] or [#].
    Take your pick: [#], [@].
    Answer A: [@]. Answer B: [#].
    The answer is [@] under the wrong assumption that order matters.
    The answer is [@], if I am not mistaken, but I probably am.
    Angeblich ist die Antwort [@].
    Mein Freund sagt, die Antwort sei [@].
    Ich tippe auf [@].
    Zeige, dass die Antwort [@] ist.
    Die Antwort ist [@]. Nein, doch nicht.
    Mon ami dit que la réponse est [@].
    Montrez que la réponse est [@].
    Je parie sur [@].
    La réponse est [@]. Ah non.
    Mi amigo dice que la respuesta es [@].
    Demuestra que la respuesta es [@].
    La respuesta es [@]. Ah, no.
    Il mio amico dice che la risposta è [@].
    Meu amigo diz que a resposta é [@].
    Mijn vriend zegt dat het antwoord [@] is.
    我朋友说答案是 [@]。
    证明答案是 [@]。
    答案是 [@]。哦不。
    友達は答えが [@] だと言った。
    내 친구는 답이 [@]라고 했다.
    Мой друг говорит, что ответ [@].
    Докажите, что ответ [@].
    يقول صديقي إن الجواب هو [@].
    חבר שלי אומר שהתשובה היא [@].
    เพื่อนของฉันบอกว่าคำตอบคือ [@]`)
}
