import { InvalidArgumentError } from 'commander';

const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A number, or `default` for that of the deployment. */
export type Chosen = number | 'default';

const decimal = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Reads what {@link parseBytes} does, or `default`. @throws InvalidArgumentError */
export function parseSize(text: string): Chosen {
  return text === 'default' ? text : parseBytes(text, '; or default');
}

/**
 * Reads `10TiB`, `512 MiB`, `500MB` (of a million bytes) or `1000`.
 * @param otherwise what else the option takes
 * @throws InvalidArgumentError
 */
export function parseBytes(text: string, otherwise = ''): number {
  const [, digits, unit = ''] = /^(\d{1,15}) ?([KMGTP]iB|[kKMGTP]B)?$/.exec(text) ?? [];
  const isBinary = unit.endsWith('iB');
  const power = Math.max(0, [...(isBinary ? names : decimal)].indexOf((unit === 'KB' ? 'kB' : unit) as never));
  const bytes = Number(digits) * (isBinary ? 1024 : 1000) ** power;
  if (digits === undefined || !Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError(
      `Must be a number of bytes, or one with a unit (KiB, MiB, GiB, TiB, kB, MB, GB, TB) such as 10TiB${otherwise}.`,
    );
  }
  return bytes;
}

/** Reads a whole number or `default`. @throws InvalidArgumentError */
export function parseNumber(text: string): Chosen {
  if (text === 'default') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Must be a whole number, or default.');
  return Number(text);
}

/** Formats bytes: `25 TiB`, `1.5 MiB`, `17 bytes`. */
export function sizeText(bytes: number): string {
  const power = Math.min(bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10), names.length - 1);
  return `${Number((bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1))} ${names[power]}`;
}
