import { createContext, use, useEffect, useState, type ReactNode } from 'react';

const NowContext = createContext(0);

/** Gives the page the time, again every 10 seconds, so that relative times stay right. */
export function NowProvider({ children }: { children: ReactNode }): ReactNode {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 10_000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return <NowContext value={now}>{children}</NowContext>;
}

/** Milliseconds since 1970, at most 10 seconds old. */
export function useNow(): number {
  return use(NowContext);
}
