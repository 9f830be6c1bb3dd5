/**
 * How often models were right in public records: counts alone, without a question or an answer. Written by
 * `scripts/shipped.ts`.
 */

/** One record of several workers on the same questions. */
export interface Shipped {
  readonly name: string
  /** The repository on GitHub, and its commit. */
  readonly repository: string
  readonly licence: string
  /** When it was read. */
  readonly date: string
  readonly workers: ReadonlyArray<string>
  /** Sums of scores by kind, in the order of the workers. */
  readonly kinds: ReadonlyArray<{
    readonly kind: string
    readonly questions: number
    readonly right: ReadonlyArray<number>
  }>
}

export const shipped: ReadonlyArray<Shipped> = [
  {
    name: "ZeroEval",
    repository: "WildEval/ZeroEval@8c1485e",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "Llama-3.1-405B-Inst@sambanova",
      "Meta-Llama-3.1-8B-Instruct",
      "Mistral-Large-2",
      "Qwen2-72B-Instruct",
      "claude-3-5-haiku-20241022",
      "claude-3-5-sonnet-20241022",
      "deepseek-v2.5-0908",
      "gemini-1.5-flash",
      "gemini-1.5-pro",
      "gpt-4o-2024-08-06",
      "gpt-4o-mini-2024-07-18"
    ],
    kinds: [
      {
        kind: "crux",
        questions: 800,
        right: [584, 319, 601, 473, 550, 671, 560, 510, 544, 696, 607]
      },
      {
        kind: "gsm",
        questions: 1319,
        right: [1265, 1108, 1260, 1222, 1246, 1275, 1220, 1205, 1232, 1269, 1243]
      }
    ]
  },
  {
    name: "ParetoBandit",
    repository: "ParetoBandit/ParetoBandit@72ccbef",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "google/gemini-2.5-flash",
      "google/gemini-2.5-pro",
      "meta-llama/llama-3.1-8b-instruct",
      "mistralai/mistral-large-2512"
    ],
    kinds: [
      {
        kind: "arc_challenge",
        questions: 187,
        right: [178, 177.9, 156.5, 178.6]
      },
      {
        kind: "bbh/boolean_expressions",
        questions: 2,
        right: [2, 2, 1.5, 2]
      },
      {
        kind: "bbh/causal_judgement",
        questions: 10,
        right: [8.6, 9.3, 7.7, 8.7]
      },
      {
        kind: "bbh/date_understanding",
        questions: 8,
        right: [7.7, 7.6, 5.5, 7.1]
      },
      {
        kind: "bbh/formal_fallacies",
        questions: 25,
        right: [22.7, 23.8, 17.9, 23.6]
      },
      {
        kind: "bbh/logical_deduction_five_objects",
        questions: 2,
        right: [2, 2, 1.3, 1.9]
      },
      {
        kind: "bbh/movie_recommendation",
        questions: 38,
        right: [32, 31.4, 22.8, 30.3]
      },
      {
        kind: "bbh/multistep_arithmetic_two",
        questions: 2,
        right: [2, 2, 1.1, 1.7]
      },
      {
        kind: "bbh/navigate",
        questions: 1,
        right: [1, 1, 0.4, 1]
      },
      {
        kind: "bbh/object_counting",
        questions: 7,
        right: [6.7, 7, 5.8, 6.8]
      },
      {
        kind: "bbh/penguins_in_a_table",
        questions: 1,
        right: [0.9, 1, 0.3, 1]
      },
      {
        kind: "bbh/ruin_names",
        questions: 33,
        right: [28.8, 30.6, 26.6, 29]
      },
      {
        kind: "bbh/salient_translation_error_detection",
        questions: 7,
        right: [5.6, 6.7, 4.8, 6.9]
      },
      {
        kind: "bbh/snarks",
        questions: 29,
        right: [27.1, 27, 21.9, 27]
      },
      {
        kind: "bbh/sports_understanding",
        questions: 41,
        right: [36.6, 37.3, 31.5, 37.2]
      },
      {
        kind: "bbh/tracking_shuffled_objects_five_objects",
        questions: 1,
        right: [1, 1, 0.7, 1]
      },
      {
        kind: "bbh/tracking_shuffled_objects_three_objects",
        questions: 2,
        right: [2, 2, 2, 2]
      },
      {
        kind: "bbh/web_of_lies",
        questions: 37,
        right: [36.5, 36.6, 28.9, 33.3]
      },
      {
        kind: "bbh/word_sorting",
        questions: 21,
        right: [19.9, 20.9, 14.1, 19.8]
      },
      {
        kind: "gsm8k",
        questions: 420,
        right: [408.8, 412, 397.2, 413.7]
      },
      {
        kind: "mbpp",
        questions: 62,
        right: [55.8, 56.5, 43.1, 54.7]
      },
      {
        kind: "mmlu",
        questions: 491,
        right: [460.1, 467.9, 376.8, 456.5]
      },
      {
        kind: "truthful_qa",
        questions: 105,
        right: [92.7, 94, 76.1, 89.7]
      }
    ]
  },
  {
    name: "LLMRouter",
    repository: "ulab-uiuc/LLMRouter@4e7a796",
    licence: "MIT",
    date: "2026-11-24",
    workers: [
      "codegemma-7b",
      "gemma-2-9b-it",
      "llama-3.1-8b-instruct",
      "llama-3.1-nemotron-51b-instruct",
      "llama-3.3-nemotron-super-49b-v1",
      "llama3-chatqa-1.5-70b",
      "llama3-chatqa-1.5-8b",
      "mistral-7b-instruct-v0.3",
      "qwen2.5-7b-instruct"
    ],
    kinds: [
      {
        kind: "agentverse-logicgrid",
        questions: 200,
        right: [2, 63, 15, 53, 30, 0, 1, 23, 2]
      },
      {
        kind: "arc_challenge",
        questions: 500,
        right: [259, 341, 376, 442, 357, 9, 117, 371, 429]
      },
      {
        kind: "gpqa",
        questions: 448,
        right: [21, 81.5, 59, 109, 35, 1.5, 0, 66.5, 24]
      },
      {
        kind: "gsm8k",
        questions: 550,
        right: [308, 452, 466, 473, 468, 257, 90, 238, 453]
      },
      {
        kind: "math",
        questions: 504,
        right: [72, 95, 176, 170, 285, 15, 13, 25, 154]
      },
      {
        kind: "mbpp",
        questions: 529,
        right: [301, 306, 339, 398, 405, 314, 130, 32, 368]
      },
      {
        kind: "mmlu",
        questions: 544,
        right: [86, 442, 380, 472, 449, 1, 1, 244, 84]
      },
      {
        kind: "natural_qa",
        questions: 550,
        right: [105, 226, 258, 209, 260, 249, 190, 229, 189]
      },
      {
        kind: "openbook_qa",
        questions: 500,
        right: [223, 385, 368, 432, 340, 16, 138, 344, 408]
      },
      {
        kind: "trivia_qa",
        questions: 550,
        right: [52, 104, 102, 102, 116, 122, 96, 109, 83]
      }
    ]
  },
  {
    name: "MMLU-Pro",
    repository: "TIGER-AI-Lab/MMLU-Pro@f418b11",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "Meta-Llama-3_1-70B-Instruct",
      "Meta-Llama-3_1-8B-Instruct",
      "Mistral-7B-Instruct-v0.2",
      "Mixtral-8x7B-Instruct-v0.1",
      "Phi-3-mini-4k-instruct",
      "Qwen1.5-72B-Chat",
      "c4ai-command-r-v01",
      "gemini-1.5-flash-002",
      "gemini-1.5-pro-002",
      "jamba-1.5-large",
      "mathstral-7B"
    ],
    kinds: [
      {
        kind: "biology",
        questions: 288,
        right: [232, 183, 122, 192, 190, 200, 146, 244, 246, 226, 189]
      },
      {
        kind: "business",
        questions: 305,
        right: [204, 160, 84, 124, 141, 148, 114, 221, 249, 182, 128]
      },
      {
        kind: "chemistry",
        questions: 483,
        right: [284, 189, 63, 129, 126, 127, 93, 332, 317, 156, 191]
      },
      {
        kind: "computer science",
        questions: 157,
        right: [106, 77, 59, 64, 71, 76, 63, 95, 127, 84, 80]
      },
      {
        kind: "engineering",
        questions: 434,
        right: [200, 115, 72, 117, 95, 128, 98, 177, 258, 139, 171]
      },
      {
        kind: "health",
        questions: 305,
        right: [197.5, 155, 121, 158, 159, 169.5, 138, 195, 221, 181, 116]
      },
      {
        kind: "other",
        questions: 382,
        right: [242, 157, 132, 182, 179, 212, 174, 238, 275, 215, 148]
      },
      {
        kind: "philosophy",
        questions: 209,
        right: [119, 88, 64, 95, 88, 106, 83, 122, 146, 109, 74]
      },
      {
        kind: "physics",
        questions: 573,
        right: [344, 239, 132, 225, 211, 213, 139, 415, 469, 180, 224]
      },
      {
        kind: "psychology",
        questions: 323,
        right: [245, 194, 166, 204, 207, 220, 196, 250, 271, 237, 176]
      }
    ]
  },
  {
    name: "reasoning-gym, hard",
    repository: "open-thought/reasoning-gym-eval@5f09fec",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "anthropic_claude-3.5-sonnet",
      "deepseek_deepseek-r1",
      "google_gemma-3-27b-it",
      "meta-llama_llama-3.3-70b-instruct",
      "meta-llama_llama-4-maverick",
      "meta-llama_llama-4-scout",
      "mistralai_mistral-small-3.1-24b-instruct",
      "openai_o3-mini",
      "qwen_qwq-32b",
      "x-ai_grok-3-mini-beta"
    ],
    kinds: [
      {
        kind: "base_conversion",
        questions: 50,
        right: [41, 50, 37, 15, 47, 27, 24, 50, 49, 49]
      },
      {
        kind: "basic_arithmetic",
        questions: 50,
        right: [31, 45, 15, 21, 27, 23.5, 13.1, 48, 45, 45]
      },
      {
        kind: "bf",
        questions: 49,
        right: [0, 0.8, 0, 0, 0, 0, 0, 1.3, 0, 0]
      },
      {
        kind: "binary_alternation",
        questions: 50,
        right: [0.7, 8, 0, 3, 3, 2, 3, 16, 0, 1]
      },
      {
        kind: "binary_matrix",
        questions: 50,
        right: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      },
      {
        kind: "bitwise_arithmetic",
        questions: 50,
        right: [6, 11, 0, 0, 3, 0, 1, 24, 8, 8]
      },
      {
        kind: "caesar_cipher",
        questions: 47,
        right: [21, 27.8, 0, 0, 0, 0, 0, 39.6, 12.9, 14.9]
      },
      {
        kind: "calendar_arithmetic",
        questions: 50,
        right: [48.8, 50, 47.6, 43.5, 47.8, 42.8, 36.8, 50, 45.1, 50]
      },
      {
        kind: "circuit_logic",
        questions: 50,
        right: [33, 40, 9, 13, 24, 27, 37, 34, 8, 41]
      },
      {
        kind: "complex_arithmetic",
        questions: 50,
        right: [43, 47, 49.9, 45.5, 50, 49.3, 40, 49, 49, 50]
      },
      {
        kind: "count_bits",
        questions: 50,
        right: [5, 49, 9, 6, 11, 6, 6, 49, 39, 14]
      },
      {
        kind: "course_schedule",
        questions: 50,
        right: [25, 31, 29, 30, 24, 25, 20, 33, 6, 30]
      },
      {
        kind: "decimal_chain_sum",
        questions: 50,
        right: [21, 22, 0, 0, 11, 11, 0, 20, 16, 22]
      },
      {
        kind: "dice",
        questions: 50,
        right: [0, 3, 0, 0, 0, 0, 0, 24, 0, 1]
      },
      {
        kind: "figlet_font",
        questions: 50,
        right: [6.4, 3.3, 1.7, 2.5, 1.7, 2.5, 2.2, 4.8, 1.3, 1.8]
      },
      {
        kind: "fraction_simplification",
        questions: 50,
        right: [17.1, 47, 40.5, 1.8, 42.5, 28.6, 7, 49.1, 43.1, 50]
      },
      {
        kind: "game_of_life",
        questions: 50,
        right: [50, 21.8, 0, 17.3, 29.2, 9.9, 29.9, 30.6, 0, 41.6]
      },
      {
        kind: "game_of_life_halting",
        questions: 2,
        right: [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
      },
      {
        kind: "graph_color",
        questions: 50,
        right: [34.2, 50, 0, 35.1, 42.1, 24.2, 33.2, 50, 49, 49]
      },
      {
        kind: "knights_knaves",
        questions: 50,
        right: [35.7, 50, 32.8, 37.5, 46.7, 23.6, 36.4, 50, 50, 50]
      },
      {
        kind: "largest_island",
        questions: 50,
        right: [2, 10, 0, 0, 1, 0, 0, 16, 0, 8]
      },
      {
        kind: "lcm",
        questions: 50,
        right: [0, 48, 0, 0, 12, 0, 0, 47, 39, 44]
      },
      {
        kind: "letter_counting",
        questions: 50,
        right: [13, 41, 10, 8, 9, 9, 3, 49, 37, 35]
      },
      {
        kind: "mahjong_puzzle",
        questions: 50,
        right: [19, 26, 0, 14, 14, 8, 18, 41, 8, 26]
      },
      {
        kind: "manipulate_matrix",
        questions: 50,
        right: [2, 3, 1, 0, 0, 1, 0, 9, 0, 6]
      },
      {
        kind: "modulo_grid",
        questions: 50,
        right: [17, 13.2, 0, 0.6, 1.8, 4.4, 15.4, 0, 1, 13]
      },
      {
        kind: "n_queens",
        questions: 50,
        right: [2, 9, 0, 0, 0, 0, 0, 35, 8, 1]
      },
      {
        kind: "needle_haystack",
        questions: 50,
        right: [50, 50, 0, 22, 46, 35, 43, 50, 46, 50]
      },
      {
        kind: "number_filtering",
        questions: 50,
        right: [20, 49, 0, 3, 11, 7, 2, 50, 41, 50]
      },
      {
        kind: "number_format",
        questions: 50,
        right: [50, 50, 0, 43, 49, 48, 1, 50, 49, 48]
      },
      {
        kind: "number_sorting",
        questions: 50,
        right: [42, 49, 0, 1, 36, 6, 0, 45, 2, 34]
      },
      {
        kind: "pool_matrix",
        questions: 50,
        right: [0.5, 0, 0, 0, 0.2, 0.1, 0, 0, 0, 0.1]
      },
      {
        kind: "power_function",
        questions: 50,
        right: [14.4, 43.1, 14.3, 2.4, 8.4, 8.4, 0.5, 20.3, 17, 26.2]
      },
      {
        kind: "prime_factorization",
        questions: 50,
        right: [38.1, 50, 38.5, 30.7, 47, 35.1, 22.8, 49, 50, 50]
      },
      {
        kind: "propositional_logic",
        questions: 50,
        right: [27.4, 38.6, 0.3, 34.7, 32.6, 24, 21.9, 35, 28.3, 38.8]
      },
      {
        kind: "quantum_lock",
        questions: 48,
        right: [31, 45.5, 0, 20, 33.5, 16.5, 20, 47, 30, 39]
      },
      {
        kind: "rotate_matrix",
        questions: 50,
        right: [8, 7, 0, 7, 3, 8, 7, 8, 7, 8]
      },
      {
        kind: "rubiks_cube",
        questions: 50,
        right: [2.2, 2.4, 1.4, 2.2, 1.6, 1.3, 2.4, 0.4, 1.8, 2.1]
      },
      {
        kind: "rush_hour",
        questions: 50,
        right: [0.5, 0.5, 0.4, 0.1, 0.5, 0.5, 0.5, 0.5, 0, 0.5]
      },
      {
        kind: "sentence_reordering",
        questions: 50,
        right: [3.1, 3.4, 1.6, 0.9, 3, 3, 2.3, 2.9, 3.1, 4.2]
      },
      {
        kind: "spiral_matrix",
        questions: 50,
        right: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      },
      {
        kind: "string_splitting",
        questions: 50,
        right: [1, 49, 0, 8, 35, 7, 16, 50, 43, 49]
      },
      {
        kind: "string_synthesis",
        questions: 50,
        right: [0, 49, 0, 21, 16, 13, 24, 2, 44, 46]
      },
      {
        kind: "sudoku",
        questions: 50,
        right: [36.6, 36.2, 0, 2.3, 30.1, 6, 24.7, 41, 0, 19.7]
      },
      {
        kind: "syllogism",
        questions: 50,
        right: [50, 49, 41, 41, 50, 47, 39, 47, 49, 47]
      },
      {
        kind: "tower_of_hanoi",
        questions: 40,
        right: [6.1, 13.9, 0, 0, 4.4, 0, 0, 23.1, 1, 3.5]
      },
      {
        kind: "word_sequence_reversal",
        questions: 50,
        right: [47, 50, 0, 0, 48, 7, 13, 50, 43, 50]
      },
      {
        kind: "zebra_puzzles",
        questions: 50,
        right: [25, 38, 18, 17, 14, 15, 12, 46, 19, 42]
      }
    ]
  }
]
