import { realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { defaultOptions } from '../../../shared/command-line/start-options.ts';
import { shellWord } from './shell-word.ts';

/** How this process was started. */
export interface Started {
  /** The file of the program, which may be a link. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns an administrative command for the data directory, as a shell runs it where the messages of this process are read. */
export function ownCommand(words: string, data: string, started: Started): string {
  const program = programOf(started);
  const isThere = program === 'npx stillage' && data === defaultOptions.data;
  return `${program} ${words}${isThere ? '' : ` --data ${shellWord(resolve(data))}`}`;
}

/** A service manager, a container and a shell have different paths, and a script of npm has one of its own. */
function programOf({ file, environment }: Started): string {
  const program = realpathSync(file);
  const folders = (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder));
  if (folders.some((folder) => folder !== '' && targetOf(join(folder, 'stillage')) === program)) return 'stillage';
  if (environment['npm_execpath']) return 'npx stillage';
  return `node ${shellWord(program)}`;
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
