/** Builds the console into dist/console, and the operators' page into dist/operators. */
export function buildConsole(): Promise<void>;
