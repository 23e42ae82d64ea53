/** One operation of a history, on one state. */
export interface Operation<State> {
  /** The printed form. */
  readonly label: string;
  /** The moments at which it was sent and answered, in any unit. It took effect between them, if at all; `ended` may be infinite. */
  readonly began: number;
  readonly ended: number;
  /** True if it may never have happened: it got no answer. */
  readonly optional: boolean;
  /** True if it changes no state. It may still return a state in which more is known. */
  readonly readOnly: boolean;
  /** Returns the possible states after it, none if its answer does not fit the given state. */
  readonly apply: (state: State) => readonly State[];
  /** Removes information that only this operation needs from a state. Called once it has ended. */
  readonly forget?: (state: State) => State;
}

/** The result of the check of a history. */
export type Verdict<State> =
  | { readonly linearizable: true; readonly configurations: number }
  | {
      readonly linearizable: false;
      /** The first operation whose answer no order explains. */
      readonly operation: Operation<State>;
      /** The operations that were in progress when it was answered, or may have been. */
      readonly pending: readonly Operation<State>[];
      /** The states that were possible before it. */
      readonly states: readonly State[];
    };

/** A state that is possible after the operations up to now. */
interface Configuration<State> {
  readonly state: State;
  /** The pending operations that have taken effect in it. */
  readonly done: ReadonlySet<Operation<State>>;
}

/** A history that needs more configurations than this is not checked, unless another number is given. */
const defaultMaxConfigurations = 100_000;

/** The history is not checked: too many of its operations may have happened in too many orders. */
export class TooManyConfigurations extends Error {
  constructor(max: number) {
    super(`more than ${max} configurations`);
    this.name = 'TooManyConfigurations';
  }
}

/**
 * Checks whether a history is linearizable (Herlihy and Wing, "Linearizability", TOPLAS 12(3), 1990): whether its operations can be
 * put in an order, each at one moment between its beginning and its end, that explains every answer.
 *
 * The algorithm is Wing and Gong's search ("Testing and verifying concurrent objects", JPDC 17, 1993) in the form of Lowe's
 * just-in-time linearization ("Testing for linearizability", Concurrency and Computation 29(4), 2017): it goes through the history
 * in the order of time, and keeps the set of configurations that it may have led to. An operation takes effect only when an answer
 * cannot be explained otherwise, and configurations that were met before are not searched again. A read takes effect at the
 * first state that it fits: that excludes no order of the others.
 *
 * @param options.print a text that is the same for equal states, and for no others
 * @throws TooManyConfigurations
 */
export function linearize<State>(
  initial: State,
  operations: readonly Operation<State>[],
  {
    print = JSON.stringify,
    maxConfigurations = defaultMaxConfigurations,
  }: { readonly print?: (state: State) => string; readonly maxConfigurations?: number } = {},
): Verdict<State> {
  const numbers = new Map(operations.map((operation, number) => [operation, number]));
  const nameOf = ({ state, done }: Configuration<State>): string =>
    `${[...done]
      .map((operation) => numbers.get(operation)!)
      .sort((a, b) => a - b)
      .join()} ${print(state)}`;
  const pending = new Set<Operation<State>>();
  let configurations: Configuration<State>[] = [{ state: initial, done: new Set() }];
  let most = 1;

  for (const { operation, isEnd } of timeline(operations)) {
    if (!isEnd) {
      pending.add(operation);
      continue;
    }
    const reached = new Map<string, Configuration<State>>();
    const seen = new Set<string>();
    const keep = ({ state, done }: Configuration<State>): void => {
      const rest = new Set(done);
      rest.delete(operation);
      const left = { state: operation.forget?.(state) ?? state, done: rest };
      reached.set(nameOf(left), left);
    };
    const open = configurations.map((configuration) => withReads(configuration, pending));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const name = nameOf(next);
      if (seen.has(name)) continue;
      seen.add(name);
      if (seen.size > maxConfigurations) throw new TooManyConfigurations(maxConfigurations);
      const isDone = next.done.has(operation);
      if (isDone || operation.optional) keep(next);
      if (isDone) continue;
      for (const other of pending) {
        if (next.done.has(other)) continue;
        const done = new Set(next.done).add(other);
        for (const state of other.apply(next.state)) open.push(withReads({ state, done }, pending));
      }
    }
    if (reached.size === 0) {
      const states = new Map(configurations.map(({ state }) => [print(state), state]));
      return { linearizable: false, operation, pending: [...pending], states: [...states.values()] };
    }
    pending.delete(operation);
    configurations = [...reached.values()];
    most = Math.max(most, seen.size);
  }
  return { linearizable: true, configurations: most };
}

/** Returns the beginnings and ends of the operations, in order. An operation without an answer has no end, and need not be explained. */
function timeline<State>(
  operations: readonly Operation<State>[],
): readonly { readonly operation: Operation<State>; readonly isEnd: boolean }[] {
  const moments = operations.flatMap((operation) => [
    { operation, at: operation.began, isEnd: false },
    ...(operation.ended === Infinity ? [] : [{ operation, at: operation.ended, isEnd: true }]),
  ]);
  // Beginnings come first: two operations of which one ends as the other begins may have overlapped.
  return moments.sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
}

/** The configuration with every pending read that its state explains. */
function withReads<State>(
  { state, done }: Configuration<State>,
  pending: ReadonlySet<Operation<State>>,
): Configuration<State> {
  const all = new Set(done);
  for (const operation of pending) {
    if (operation.readOnly && !all.has(operation) && operation.apply(state).includes(state)) all.add(operation);
  }
  return { state, done: all };
}
