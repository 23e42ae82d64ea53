const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `1.4 MB`: at most three digits, in powers of 1,024, in the number format of a language. */
export function formatSize(bytes: number, language: string): string {
  if (!Number.isFinite(bytes)) return '–';
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  const digits = power === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${formatNumber(value, language, digits)} ${units[power]}`;
}

/** `1,204` */
export function formatNumber(value: number, language: string, digits = 0): string {
  if (!Number.isFinite(value)) return '–';
  return numbers(language, digits).format(value);
}

const known = new Map<string, Intl.NumberFormat>();

function numbers(language: string, digits: number): Intl.NumberFormat {
  const name = `${language}/${digits}`;
  const format = known.get(name) ?? new Intl.NumberFormat(language, { maximumFractionDigits: digits });
  known.set(name, format);
  return format;
}
