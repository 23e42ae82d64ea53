type Value = string | readonly Value[] | { readonly [name: string]: Value };

/** An action of IAM: https://docs.aws.amazon.com/IAM/latest/APIReference/API_Operations.html */
export interface IamAction {
  readonly name: string;
  /** Those that are undefined are not sent. */
  readonly parameters: Readonly<Record<string, Value | undefined>>;
}

/** Returns the parameters as the Query protocol names them: `ActionNames.member.1`. */
export function parametersOf({ parameters }: IamAction): readonly (readonly [name: string, value: string])[] {
  const flat = (name: string, value: Value): (readonly [string, string])[] => {
    if (typeof value === 'string') return [[name, value]];
    if (isList(value)) return value.flatMap((each, index) => flat(`${name}.member.${index + 1}`, each));
    return Object.entries(value).flatMap(([part, each]) => flat(`${name}.${part}`, each));
  };
  return Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : flat(name, value)));
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Returns the body of the request. */
export function formOf(action: IamAction): string {
  const form = new URLSearchParams({ Action: action.name, Version: '2010-05-08' });
  for (const [name, value] of parametersOf(action)) form.append(name, value);
  return String(form);
}
