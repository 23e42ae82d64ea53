import type { ActionForm } from './action-form.ts';
import { invalid } from './action-form.ts';

/** How a parameter of an action is read. */
export interface Parameter<Value> {
  /** @throws S3Error ValidationError */
  read(this: void, form: ActionForm, name: string): Value;
  /** The name that requests have for it, if it is another one. */
  readonly called?: string;
  /** True: its value is written down nowhere. */
  readonly isSecret?: boolean;
}

/** The parameters of an action, by the names that requests have for them. */
export type Parameters<Input> = { readonly [Name in keyof Input]: Parameter<Input[Name]> };

/** Reads all parameters of an action. Others are ignored, as AWS does. @throws S3Error ValidationError */
export function readParameters<Input>(parameters: Parameters<Input>, form: ActionForm, within = ''): Input {
  const names = Object.keys(parameters) as (keyof Input & string)[];
  return Object.fromEntries(names.map((name) => [name, parameters[name].read(form, within + name)])) as Input;
}

/** A text that must be given, of so many characters. */
export function text({ least = 0, most = Infinity, form: pattern }: TextBounds = {}): Parameter<string> {
  return {
    read: (form, name) => {
      const value = form.get(name);
      if (value === undefined) throw fault(name, undefined, 'Member must not be null');
      const length = [...value].length;
      if (length < least) throw fault(name, value, `Member must have length greater than or equal to ${least}`);
      if (length > most) throw fault(name, value, `Member must have length less than or equal to ${most}`);
      if (pattern?.test(value) === false)
        throw fault(name, value, `Member must satisfy regular expression pattern: ${pattern.source}`);
      return value;
    },
  };
}

interface TextBounds {
  readonly least?: number;
  readonly most?: number;
  readonly form?: RegExp;
}

/** A whole number within bounds that must be given. */
export function number({ least, most }: { readonly least: number; readonly most: number }): Parameter<number> {
  return {
    read: (form, name) => {
      const digits = text().read(form, name);
      if (!/^-?\d{1,15}$/.test(digits)) throw fault(name, digits, 'Member must be a number');
      const value = Number(digits);
      if (value < least) throw fault(name, digits, `Member must have value greater than or equal to ${least}`);
      if (value > most) throw fault(name, digits, `Member must have value less than or equal to ${most}`);
      return value;
    },
  };
}

/** A parameter that need not be given. */
export function optional<Value>(parameter: Parameter<Value>): Parameter<Value | undefined> {
  return { read: (form, name) => (form.has(name) ? parameter.read(form, name) : undefined) };
}

/** Several parameters that belong together: `Tags.member.1.Key`, `Tags.member.1.Value`. */
export function structure<Input>(parameters: Parameters<Input>): Parameter<Input> {
  return { read: (form, name) => readParameters(parameters, form, `${name}.`) };
}

/** A list, in which each has a number: `Tags.member.1`. */
export function list<Value>(parameter: Parameter<Value>, most: number): Parameter<readonly Value[]> {
  return {
    read: (form, name) => {
      const values: Value[] = [];
      for (let at = 1; form.has(`${name}.member.${at}`); at += 1) {
        if (at > most) throw fault(name, undefined, `Member must have length less than or equal to ${most}`);
        values.push(parameter.read(form, `${name}.member.${at}`));
      }
      return values;
    },
  };
}

/** A parameter that requests have another name for than the action. */
export function called<Value>(name: string, parameter: Parameter<Value>): Parameter<Value> {
  return { ...parameter, called: name, read: (form) => parameter.read(form, name) };
}

/** A parameter whose value is written down nowhere. */
export function secret<Value>(parameter: Parameter<Value>): Parameter<Value> {
  return { ...parameter, isSecret: true };
}

/** Returns the parameters of an action that a request has, as texts, for those who ask later who did what: none that is secret. */
export function shownParameters(
  parameters: Readonly<Record<string, Parameter<unknown>>>,
  form: ActionForm,
): Readonly<Record<string, unknown>> {
  const shown = Object.entries(parameters).filter(([, { isSecret }]) => isSecret !== true);
  return form.shown(new Set(shown.map(([name, { called: other }]) => other ?? name)));
}

/** One of these words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Parameter<Word> {
  return {
    read: (form, name) => {
      const value = text().read(form, name);
      const word = words.find((one) => one === value);
      if (word === undefined) throw fault(name, value, `Member must satisfy enum value set: [${words.join(', ')}]`);
      return word;
    },
  };
}

/** A parameter that the service does not have, and does not ignore. */
export const refused: Parameter<undefined> = {
  read: (form, name) => {
    if (form.has(name)) throw invalid(`The parameter ${name} is not supported.`);
    return undefined;
  },
};

/** A parameter that has this value unless it is given. */
export function otherwise<Value>(value: Value, parameter: Parameter<Value>): Parameter<Value> {
  return { read: (form, name) => (form.has(name) ? parameter.read(form, name) : value) };
}

/** Returns the error for a parameter in the words of AWS, which clients show. */
function fault(name: string, value: string | undefined, constraint: string): Error {
  const shown = value === undefined ? 'null' : `'${value.slice(0, 100)}'`;
  const member = name.charAt(0).toLowerCase() + name.slice(1);
  return invalid(
    `1 validation error detected: Value ${shown} at '${member}' failed to satisfy constraint: ${constraint}`,
  );
}
