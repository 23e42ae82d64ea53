import { computed } from '@preact/signals';
import * as german from './de/events.ts';
import * as english from './en/events.ts';
import { language } from './messages.ts';

/** The texts of events and access logs in the chosen language: loaded with the settings of buckets, which most visits do not open. */
export const eventTexts = computed((): english.EventsDictionary => (language.value === 'de' ? german : english));
