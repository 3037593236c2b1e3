/**
 * Replaces absolute paths below a folder by relative ones, and the folder itself by ".". Tools pass
 * on errors of the operating system, which contain absolute paths. The model cannot use the part up
 * to the workspace, and it would show readers of the conversation how the machine is organized. The
 * Go SDK has the same rule, and both pass the same tests.
 */
export declare function relativeTo(folder: string, text: string): string;
