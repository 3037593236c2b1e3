/** What a call reports to people while it runs. The model receives none of it. */
/** Reports whether a state is terminal. */
export function isTerminal(state) {
    return state === "success" || state === "error";
}
