import { read } from './option-values.ts';

const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A number, or `default` for that of the deployment. */
export type Chosen = number | 'default';

const decimal = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `10TiB`, `512 MiB`, `500MB` (of a million bytes) or `1000`, in bytes. */
export const size = read((text, refuse) => bytesOf(text) ?? refuse(sizeRefusal('')));

/** What {@link size} reads, but not 0: bytes in a second. */
export const byteRate = read((text, refuse) => bytesOf(text) || refuse(sizeRefusal('; not 0')));

/** What {@link size} reads, or `default`. */
export const chosenSize = read<Chosen>((text, refuse) =>
  text === 'default' ? text : (bytesOf(text) ?? refuse(sizeRefusal('; or default'))),
);

/** A whole number, or `default`. */
export const chosenNumber = read<Chosen>((text, refuse) => {
  if (text === 'default') return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse('Must be a whole number, or default.');
});

function sizeRefusal(otherwise: string): string {
  return `Must be a number of bytes, or one with a unit (KiB, MiB, GiB, TiB, kB, MB, GB, TB) such as 10TiB${otherwise}.`;
}

function bytesOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,15}) ?([KMGTP]iB|[kKMGTP]B)?$/.exec(text) ?? [];
  const isBinary = unit.endsWith('iB');
  const power = Math.max(0, [...(isBinary ? names : decimal)].indexOf((unit === 'KB' ? 'kB' : unit) as never));
  const bytes = Number(digits) * (isBinary ? 1024 : 1000) ** power;
  return digits !== undefined && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats bytes: `25 TiB`, `1.5 MiB`, `17 bytes`. */
export function sizeText(bytes: number): string {
  const power = Math.min(bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10), names.length - 1);
  return `${Number((bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1))} ${names[power]}`;
}
