import { computed } from '@preact/signals';
import { people as german } from './de/people.ts';
import { people as english, type PeopleDictionary } from './en/people.ts';
import { language } from './messages.ts';

/** The texts of *People and keys* in the chosen language: loaded with that page, which most visits do not open. */
export const people = computed((): PeopleDictionary => (language.value === 'de' ? german : english));
