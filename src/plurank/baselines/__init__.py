"""What plurank is measured against: simpler models behind the same front door."""
