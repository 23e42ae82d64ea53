import { computed } from '@preact/signals';
import { operators as german } from './de/operators.ts';
import type { Widened } from './en/en.ts';
import { operators as english } from './en/operators.ts';
import { language } from './messages.ts';

export type OperatorsDictionary = Widened<typeof english>;

/** The texts of the operators' page in the chosen language. */
export const texts = computed((): OperatorsDictionary => (language.value === 'de' ? german : english));
