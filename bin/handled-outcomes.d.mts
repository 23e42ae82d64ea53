import type { Expression, Program, SourceFile } from 'typescript';

/** Returns the expressions in a file of a program whose value has the outcome of a write, and is dropped. */
export function ignoredOutcomes(program: Program, file: SourceFile): Expression[];
