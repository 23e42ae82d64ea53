import { computed } from '@preact/signals';
import { german } from './de/events.ts';
import { english, type EventsDictionary } from './en/events.ts';
import { language } from './messages.ts';

/** The texts of events and access logs in the chosen language: loaded with the settings of buckets, which most visits do not open. */
export const eventTexts = computed((): EventsDictionary => (language.value === 'de' ? german : english));
