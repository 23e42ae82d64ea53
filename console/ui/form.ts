import { useState } from 'preact/hooks';

/** The values of a form by name, and what the field of each is given: `<TextField {...field('name')} />`. */
export function useForm<T extends object>(before: () => T) {
  const [values, setValues] = useState(before);
  const field = <K extends keyof T>(name: K) => ({
    value: values[name],
    onInput: (value: T[K]) => setValues((now) => ({ ...now, [name]: value })),
  });
  return { values, field };
}

export type Form<T extends object> = ReturnType<typeof useForm<T>>;

/** Saves something, and says whether that is under way, and why it failed. */
export function useSaving() {
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const save = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    await act().catch(setFailure);
    setBusy(false);
  };
  return { failure, busy, save };
}
