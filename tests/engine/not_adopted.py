"""What of context-engine.md is deliberately not adopted, in one place: vectors and behaviours.

The reference tells of several sources: the specification (SPEC1, SPEC2), the program of its time (S),
later versions of it (M, C, N), and the library it is built on (PI). Where they contradict each
other the specification wins (Appendix C); where it says nothing or the source behaves badly (GAP), or
small windows break it, we decide, and the decision is here. test_not_adopted.py runs each row.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """One thing we do otherwise.

    Attributes:
        id: the vector's or the conflict's id, or section and keyword.
        source: what the source does, and which.
        ours: what we do.
        why: the reason.
        later: for a part of the specification that is not built yet; nothing can be run.
    """

    id: str
    source: str
    ours: str
    why: str
    later: bool = False


DEPARTURES = (
    # ---- 1: the window
    Departure(
        "W12-W13",
        "S: a window that is no number or endless reaches the guard, which lets it pass as it is",
        "resolution passes over it, down to the default; the guard would see 0, an unknown window",
        "one meaning of invalid everywhere; a comparison with NaN decides nothing",
    ),
    Departure(
        "CONFLICT-1",
        "C/N: hard minimum max(4,000, 10 %), warning below max(8,000, 20 %); 0 warns and blocks",
        "16,000 and 32,000; 0 does neither",
        "the specification's figures; both are settings",
    ),
    Departure(
        "CONFLICT-1b",
        "N: no global cap",
        "a global cap, applied when strictly smaller",
        "the specification has it; small windows are what this program is for",
    ),
    Departure(
        "1.4-invalid-default",
        "N: an invalid default becomes 8,000",
        "200,000, then the cap, then what was really loaded",
        "the specification's default; it never reaches a local server",
    ),
    Departure(
        "1.1-native-clamp",
        "N: a configured window is clamped by the model's native one",
        "the configured one counts, and is shown beside what the model was trained on",
        "stretching is the user's choice; what was loaded decides in the end",
    ),
    Departure(
        "1.3-lan",
        "S: only this machine and .local names are self-hosted; 192.168.x.x is not",
        "addresses of the house are",
        "advice about limits is of use to whoever can change them (GAP)",
    ),
    Departure(
        "1.6-unknown-window",
        "S: an Ollama model of unknown window gets 128,000",
        "the cap is asked for, what was loaded counts",
        "far above what a default server serves (GAP; #128019)",
    ),
    Departure(
        "1.6-num-ctx",
        "S: num_ctx is sent only if the user set it",
        "it is in every request, the same one the budget is made of",
        "a server left to itself cuts the prompt in silence (#142695, #52206; C04)",
    ),
    # ---- 2: the budget
    Departure(
        "CONFLICT-2",
        "S/C: the cap holds for the floor only, so the settings' reserve of 16,384 passes the window",
        "the final reserve is capped",
        "it is the endless compaction the specification says the cap prevents (#100621)",
    ),
    Departure(
        "B13-S",
        "S: a window of 16,000 compacts from the first token",
        "from the 8,001st",
        "as CONFLICT-2",
    ),
    Departure(
        "B-table-S",
        "S columns: settings reserve 16,384 up to 16,576, trigger at 1 or 3,617 up to 20,000",
        "reserve and trigger of the specification's columns",
        "as CONFLICT-2",
    ),
    Departure(
        "CONFLICT-2b",
        "N: reserve and floor are not configurable",
        "both are settings",
        "the specification has them (#65465)",
    ),
    Departure(
        "CONFLICT-3",
        "N columns: tiny windows keep nearly all for the prompt, 4,096 → 4,095, 8,192 → 8,000",
        "min(8,000, half the window)",
        "the specification; a reply needs room too",
    ),
    Departure(
        "2.3-keep-recent",
        "S: the kept tail is 20,000 in every window",
        "at most what target, summary and exact values leave of it",
        "where the budget is smaller nothing would be summarised (#111886, #101052)",
    ),
    Departure(
        "M6",
        "S: notes are saved at w − 24,000, never in windows up to 24,000",
        "at the budget − 4,000",
        "the raw floor knows nothing of the window (GAP; #50611, #25880, #66830)",
    ),
    Departure(
        "B15-as-cap",
        "PI: a summary may have 0.8 of the reserve, 16,000 tokens of 20,000",
        "12 % of the budget within 512…4,000; B15 only bounds that",
        "a summary larger than a small window's budget saves nothing",
    ),
    Departure(
        "2-table-chunks",
        "S: 4,096 tokens of overhead off every chunk budget, 1 token is left at 10,240",
        "an eighth of the window up to 4,096 in sessions; the function has S's figure by default",
        "one request a message is no plan (GAP)",
    ),
    # ---- 3: estimates
    Departure(
        "E3-C",
        "C: a user's picture is 4,800 characters, so text of 5 with one is 1,202",
        "in the specification's estimate 2; the estimator in use counts it",
        "the rule of the specification's time; what decides is the estimator in use",
    ),
    Departure(
        "E16",
        "S: a system prompt of 40,000 characters counts 0, the prompt 'hello' with it 3",
        "12,003",
        "CONFLICT-13: it is sent, so it is counted",
    ),
    Departure(
        "E18",
        "C: 12 a message, 6 a block: 1,232",
        "1,203, as E17",
        "the specification's estimator, margin 1.2",
    ),
    Departure(
        "E19",
        "C: a result of 40,000 characters is 20,020, two characters a token",
        "10,000 in the specification's estimate",
        "as E18; #95327 counted results twice over",
    ),
    Departure(
        "P-503000",
        "C: results of 503,000 characters estimate above 200,000",
        "150,900",
        "the two-characters rule again",
    ),
    Departure(
        "3-decides",
        "S: four characters a token decide, whatever the script",
        "the script-aware estimator decides; the specification's is for its figures",
        "Chinese came out at a quarter (#103930, #70052; C26)",
    ),
    # ---- 4: routes
    Departure(
        "4.2-200-messages",
        "one revision: more than 200 messages turn shortening into compacting too",
        "the number of messages decides nothing",
        "tokens are what must fit (C17)",
    ),
    Departure(
        "4.3-unbounded-shortening",
        "S: the shorten route sends the turn round again without a counter",
        "once, then it compacts or says why not",
        "no loop (GAP)",
    ),
    # ---- 5: tool results
    Departure(
        "CONFLICT-4",
        "C/N: the oldest results are cut first, and blanked if that is not enough",
        "newest first is the default, the other order a setting; nothing is blanked",
        "the specification's letter",
    ),
    Departure(
        "A1-fresh",
        "S: newest first cuts even the result that was just read, to a notice of 33 characters",
        "within the running turn the newest keeps 2,000 characters of its text",
        "the model reads it again for ever (#132008, #139147, #93186)",
    ),
    Departure(
        "5.2-aggregate-budget",
        "a later revision: all results together may have max(4 caps, half the window)",
        "one cap",
        "the specification and its vectors",
    ),
    Departure(
        "CONFLICT-5",
        "C/N: a result may have 16,000, 32,000 or 64,000 characters by window",
        "16,000 at most",
        "the specification's cap; result_chars can raise it",
    ),
    Departure(
        "CONFLICT-6",
        "SPEC1: an important end gets 30 % of the text, however long",
        "30 %, at most 4,000 characters, as S",
        "T7, T8 and T10 are exact only with the cap; the reference leaves the choice",
    ),
    Departure(
        "CONFLICT-7",
        "S: shortening results appends the rest of the branch anew; SPEC1 edits the lines",
        "one entry with the new texts is appended; the results' own entries stay",
        "append-only, and the model sees the same",
    ),
    Departure(
        "CONFLICT-14",
        "S: enabled by itself for one provider, with a life of 1 hour",
        "off, and 5 minutes",
        "the specification's default; the providers are not ours",
    ),
    # ---- 6: compaction
    Departure(
        "6.2-reset",
        "S: a conversation that cannot be compacted is reset by itself",
        "it stays, with what the user can choose",
        "nothing is thrown away unasked (#13611)",
    ),
    Departure(
        "6.2-advice",
        "S: advises to raise the reserve's floor",
        "a new conversation, a larger window, a lower reserve",
        "on a small window it makes matters worse (#87102)",
    ),
    Departure(
        "X-settings",
        "PI: a settings entry right before a user message makes the cut a split turn, start 0",
        "the cut is at the turn's beginning, and not split",
        "a quirk of the index; nothing is cut through",
    ),
    Departure(
        "X-trailing-result",
        "PI: a result as large as the tail at the end leaves nothing to summarise",
        "the cut goes before its call, and what came earlier is folded",
        "a dead end (GAP)",
    ),
    Departure(
        "6.3-range",
        "PI 0.58: the next summary begins after the last compaction",
        "with its kept tail",
        "the kept messages were lost (pi #2608)",
    ),
    Departure(
        "history-share",
        "reference: 4 × 1,000 tokens for 2,000 take 1 pass",
        "2 passes; what is kept and dropped is the same",
        "splitting 2,2 and then 1,1 is two",
    ),
    Departure(
        "F4-abort",
        "S: a caller's abort comes back as the placeholder",
        "it ends everything and is raised",
        "a stop is a stop (GAP; N does so too)",
    ),
    Departure(
        "CONFLICT-8",
        "S: the placeholder is stored as a success; N: it is an error, always",
        "stored only where the conversation could not go on, marked, and mended by the next one",
        "history was lost behind it (#115413); the specification has the tier",
    ),
    Departure(
        "CONFLICT-15",
        "S: a manual compaction keeps no tail",
        "recent messages stay",
        "SPEC2",
    ),
    Departure(
        "CONFLICT-17",
        "SPEC1: every timeout compacts",
        "only of a prompt over 65 % of the window",
        "S's extra condition: a short prompt times out for another reason",
    ),
    Departure(
        "CONFLICT-18",
        "N: an abort of the provider is tried again",
        "never",
        "the specification",
    ),
    Departure(
        "6.5-safeguard",
        "S: five headings are demanded and audited, identifiers among them",
        "six plain headings, no audit; exact values are carried by the program",
        "small models do not keep to an audit, and the values must not depend on them (C25)",
    ),
    Departure(
        "6.5-size",
        "S: a summary over 16,000 characters is cut, with a marker",
        "one over its cap is rejected",
        "a summary without its end is none",
    ),
    Departure(
        "6.5-file-lists",
        "PI: lists of read and changed files under the summary",
        "none; paths are exact values like others",
        "one list, one cap",
    ),
    Departure(
        "6.1-transcript-bytes",
        "S: a large transcript file starts a compaction",
        "only tokens do",
        "the file's size says nothing of the prompt",
    ),
    # ---- 7: the transcript
    Departure(
        "CONFLICT-16",
        "S: runtime context is counted and sent",
        "it never reaches a count or a model",
        "the specification (M does so too)",
    ),
    Departure(
        "CONFLICT-19",
        "SPEC1 names a function that repairs the file",
        "pairs are repaired in memory, before each request",
        "append-only",
    ),
    Departure(
        "7.1-lazy-file",
        "PI: nothing is on the disk before the first reply",
        "what the user typed is there before anything else happens",
        "a crash must not cost it",
    ),
    Departure(
        "CONFLICT-7b",
        "SPEC1: a successor file has the entries after the compaction",
        "the kept tail too",
        "SPEC2, and else the tail would be lost",
        later=True,
    ),
    # ---- 8 to 11
    Departure(
        "CONFLICT-9",
        "S: maintenance is enforced",
        "it warns",
        "the specification",
        later=True,
    ),
    Departure(
        "CONFLICT-10",
        "S: notes go to memory/DATE.md",
        "to MEMORY.md, which can be changed",
        "the specification",
        later=True,
    ),
    Departure(
        "CONFLICT-11",
        "S: a manual compaction waits for its hook",
        "no compaction waits for one",
        "the specification",
        later=True,
    ),
    Departure(
        "CONFLICT-12",
        "S: notices begin with a broom",
        "words only",
        "the specification's text",
    ),
    Departure(
        "U1",
        "SPEC2: a compaction is silent unless notifyUser is set",
        "it is always told",
        "nothing is cut in silence (C23)",
    ),
    Departure(
        "CONFLICT-20",
        "S: the verbose line counts compactions; SPEC2 does not",
        "no such line: what ended is told with its figures",
        "before, after, folded and seconds say more",
    ),
)
"""Every departure; ids are unique."""
