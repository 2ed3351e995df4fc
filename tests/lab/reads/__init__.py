"""The budget of reads in flight: in, a seed; out, a broker whose storage is slow and whose budget is small, and a recording with the truth per subscription."""
