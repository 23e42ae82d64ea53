import { computed } from '@preact/signals';
import { operators as german } from './de/operators.ts';
import { operators as english, type OperatorsDictionary } from './en/operators.ts';
import { language } from './messages.ts';

/** The texts of the operators' page in the chosen language. */
export const texts = computed((): OperatorsDictionary => (language.value === 'de' ? german : english));
