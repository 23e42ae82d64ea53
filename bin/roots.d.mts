export const sources: readonly string[];
export const isSource: RegExp;
