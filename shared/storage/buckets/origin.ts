/** At whose instance a change is made. */
export type Origin =
  | {
      readonly by: 'request';
      /** The operation of the API. */
      readonly operation: string;
      /** Undefined: anonymous. */
      readonly requester: string | undefined;
      readonly remoteAddress: string;
      readonly requestId: string;
      readonly hostId: string;
    }
  | { readonly by: 'lifecycle' | 'operator' | 'log delivery' };
