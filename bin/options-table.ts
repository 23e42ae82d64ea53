// Writes the table of options into docs/configuration.md: `node --import tsx bin/options-table.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { startOption } from '../shared/command-line/option.ts';
import { startOptions, type StartOption, type StartOptionName } from '../shared/command-line/start-options.ts';

export const configurationPage = new URL('../docs/configuration.md', import.meta.url);

/** Returns the page with the table of the options of `stillage start`. */
export function withOptions(page: string): string {
  const rows = Object.keys(startOptions).map((name) => rowOf(name as StartOptionName));
  const table = ['| option | variable | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
  return page.replace(/(<!-- Generated.*-->\n)[^]*(?=<!-- End)/, (_, mark: string) => `${mark}\n${table}\n\n`);
}

function rowOf(name: StartOptionName): string {
  const { flags, envVar } = startOption(name);
  const { help, remark, repeatable, defaultText, ...row }: StartOption<unknown> = startOptions[name];
  const value = typeof row.default === 'string' || typeof row.default === 'number' ? `\`${row.default}\`` : '';
  const meaning = [`${code(help)}${repeatable ? ' (repeatable)' : ''}`, ...(remark === undefined ? [] : [remark])];
  return `| \`${flags}\` | \`${envVar}\` | ${defaultText ?? value} | ${meaning.join('. ')} |`;
}

/** Marks what is no word: flags, headers, paths, placeholders. */
function code(text: string): string {
  return text.replaceAll(/(?:--|X-|\/_|http:)[^\s,;]+|\bAWS_\*|<\S+|(?<= )\/(?= )|\bLocationConstraint\b/g, '`$&`');
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(configurationPage, withOptions(readFileSync(configurationPage, 'utf8')));
}
