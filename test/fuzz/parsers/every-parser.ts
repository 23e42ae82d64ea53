import { readers } from '../../support/runs/stalls.ts';
import { documents } from './documents.ts';
import { framing } from './framing.ts';
import type { Parser } from './parser.ts';
import { signatures } from './signatures.ts';
import { stored } from './stored.ts';

/** Every parser, by a name that its corpus has, too. Those of test/stalls are among them. */
export const parsers: Readonly<Record<string, Parser>> = {
  ...readers,
  JSON: { ...readers['JSON']!, refuses: (error) => error instanceof SyntaxError },
  ...documents,
  ...signatures,
  ...framing,
  ...stored,
};
