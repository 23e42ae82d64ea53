import { computed, signal } from '@preact/signals';
import { formatDate, formatExactDate, formatMinute } from '../format/date.ts';
import { formatNumber, formatSize } from '../format/size.ts';
import { en, type Dictionary } from './en/en.ts';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

export const language = signal<Language>('en');
const dictionary = signal<Dictionary>(en);

/** The texts of the chosen language. */
export const t = computed(() => dictionary.value);

/** Changes the language, and remembers it on this device. */
export async function setLanguage(chosen: Language): Promise<void> {
  dictionary.value = chosen === 'de' ? (await import('./de/de.ts')).de : en;
  language.value = chosen;
  document.documentElement.lang = chosen;
  localStorage.setItem('language', chosen);
}

/** The language chosen on this device, or else the browser's, or else English. */
export async function chooseLanguage(): Promise<void> {
  const wanted = [localStorage.getItem('language'), ...navigator.languages].map((tag) => tag?.slice(0, 2));
  const known = wanted.find((tag): tag is Language => tag !== undefined && tag in languages);
  if (known !== undefined && known !== 'en') await setLanguage(known);
}

/** Adopts a choice made in another tab. */
export function followLanguage(): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === 'language' && newValue !== null && newValue in languages) void setLanguage(newValue as Language);
  });
}

/** The language tag for dates and numbers: the browser's variety of the language, such as `en-GB`. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.startsWith(language.value)) ?? language.value,
);

export const size = (bytes: number): string => formatSize(bytes, locale.value);
export const number = (value: number): string => formatNumber(value, locale.value);
export const date = (value: Date | number): string => formatDate(value, locale.value);
export const exactDate = (value: Date | number): string => formatExactDate(value, locale.value);
export const minute = (value: Date | number): string => formatMinute(value, locale.value);
